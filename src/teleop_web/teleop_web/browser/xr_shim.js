// Test side: runs right after the emulator's bundle (global `IWER`), before any page script. A test may set `__XR_CONFIG`.
// It makes the device and adds the browser rules that the emulator leaves out: secure context, user gesture, no frames
// while hidden, tracking loss, a display clock.
(() => {
  const config = globalThis.__XR_CONFIG ?? {};
  if (config.hz) {
    const period = 1000 / config.hz;
    const timers = new Map();
    let slot = performance.now();
    let last = 0;
    globalThis.requestAnimationFrame = (callback) => {
      const now = performance.now();
      const due = slot + period * Math.max(1, Math.ceil((now - slot) / period));
      const id = ++last;
      timers.set(id, setTimeout(() => { timers.delete(id); slot = due; callback(performance.now()); }, Math.max(0, due - now)));
      return id;
    };
    globalThis.cancelAnimationFrame = (id) => { clearTimeout(timers.get(id)); timers.delete(id); };
  }
  const base = IWER.metaQuest3;
  const device = new IWER.XRDevice(config.modes ? { ...base, supportedSessionModes: config.modes } : base, { stereoEnabled: !!config.stereo });
  // headless Chromium has a native navigator.xr without hardware; without force the emulator steps aside for it
  device.installRuntime({ forceInstall: true });
  // the native layer classes know nothing of an emulated session
  delete globalThis.XRWebGLBinding;

  const request = XRSystem.prototype.requestSession;
  XRSystem.prototype.requestSession = function (mode, options) {
    if (!isSecureContext || !navigator.userActivation.isActive) {
      return Promise.reject(new DOMException('requestSession needs a secure context and user activation', 'SecurityError'));
    }
    return request.call(this, mode, options);
  };
  const nextFrame = XRSession.prototype.requestAnimationFrame;
  XRSession.prototype.requestAnimationFrame = function (callback) {
    const held = (time, frame) => {
      if (device.visibilityState === 'hidden') return nextFrame.call(frame.session, held);
      return callback(time, frame);
    };
    return nextFrame.call(this, held);
  };
  const hidden = (object, description) => object[Object.getOwnPropertySymbols(object).find((s) => s.description === description)];
  const controller = (side) => device.controllers[side];
  const faults = new Map();
  const getPose = XRFrame.prototype.getPose;
  XRFrame.prototype.getPose = function (space, reference) {
    const fault = faults.get(space);
    if (fault === 'null') return null;
    if (fault === 'throw') throw new DOMException('poses may not be reported', 'SecurityError');
    const pose = getPose.call(this, space, reference);
    return pose;
  };
  const spaces = (side) => [controller(side).inputSource.gripSpace, controller(side).inputSource.targetRaySpace];
  const pulses = [];
  for (const side of ['left', 'right']) {
    // the emulator marks every controller pose as emulated; a tracked controller is not
    for (const space of spaces(side)) hidden(space, '@iwer/xr-space').emulated = false;
    const actuator = controller(side).inputSource.gamepad.hapticActuators[0];
    const original = actuator.pulse;
    actuator.pulse = function (value, ms) {
      pulses.push({ hand: side, intensity: value, ms, t: Date.now() });
      return original.call(this, value, ms);
    };
  }
  // keep the page's sockets, so that a test can break them
  const sockets = [];
  globalThis.WebSocket = class extends WebSocket {
    constructor(...args) { super(...args); sockets.push(this); }
  };
  globalThis.__xr = {
    device,
    pulses,
    sockets,
    player: null,
    head(position, orientation) { device.position.set(...position); device.quaternion.set(...orientation); },
    // the emulator drives the aim pose; the grip hangs on it by a fixed offset
    ray(side, position, orientation) { controller(side).position.set(...position); controller(side).quaternion.set(...orientation); },
    gripOffset: (side) => Array.from(hidden(spaces(side)[0], '@iwer/xr-space').offsetMatrix), // column major, grip in ray
    button(side, id, value) { controller(side).updateButtonValue(id, value); },
    stick(side, x, y) { controller(side).updateAxes('thumbstick', x, y); },
    connected(side, on) { controller(side).connected = on; },
    tracking(side, how) { // 'ok' | 'emulated' | 'null' | 'throw'
      for (const space of spaces(side)) {
        hidden(space, '@iwer/xr-space').emulated = how === 'emulated';
        if (how === 'null' || how === 'throw') faults.set(space, how); else faults.delete(space);
      }
    },
    visibility(state) { device.updateVisibilityState(state); },
    recenter() { device.recenter(); },
    breakSocket() { for (const socket of sockets) if (socket.url.endsWith('/ws')) socket.close(); },
  };
})();
