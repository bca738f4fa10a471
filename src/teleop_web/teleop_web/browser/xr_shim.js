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
  let player = null;
  // keep the page's sockets, so that a test can break them
  const sockets = [];
  globalThis.WebSocket = class extends WebSocket {
    constructor(...args) { super(...args); sockets.push(this); }
  };
  globalThis.__xr = {
    device,
    pulses,
    sockets,
    head(position, orientation) { device.position.set(...position); device.quaternion.set(...orientation); },
    // the emulator drives the aim pose; the grip hangs on it by a fixed offset
    ray(side, position, orientation) { controller(side).position.set(...position); controller(side).quaternion.set(...orientation); },
    // move hands by their deltas [m] in a straight, smooth line that takes so long [s]
    move(deltas, seconds) {
      const starts = Object.entries(deltas).map(([side, delta]) => [controller(side), Array.from(controller(side).position.vec3), delta]);
      const began = performance.now();
      return new Promise((done) => {
        const timer = setInterval(() => {
          const part = Math.min(1, (performance.now() - began) / 1000 / seconds);
          const share = part * part * (3 - 2 * part);
          for (const [hand, start, delta] of starts) hand.position.set(...start.map((x, i) => x + share * delta[i]));
          if (part < 1) return;
          clearInterval(timer);
          done();
        }, 5);
      });
    },
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
    // Play a capture of the emulator's action recorder as this headset. squeeze: [value, from s, to s] overwrites both grips;
    // without: indices of buttons that stay released. Afterwards no source is left.
    async play(recording, { squeeze = null, without = [] } = {}) {
      const kinds = new Map(recording.schema.map(([index, kind]) => [index, kind]));
      const start = recording.frames[0][0];
      for (const frame of recording.frames) {
        const t = (frame[0] - start) / 1000;
        for (const source of frame.slice(8)) {
          const kind = kinds.get(source[0]);
          if (kind.hasHand || kind.numButtons < 2) continue;
          const pad = source[source.length - 1];
          if (squeeze && t >= squeeze[1] && t <= squeeze[2]) pad[1] = [squeeze[0] > 0.5 ? 1 : 0, 1, squeeze[0]];
          for (const index of without) pad[index] = [0, 0, 0];
        }
      }
      const reference = await device.activeSession.requestReferenceSpace('local-floor');
      player = device.createActionPlayer(reference, recording);
      for (const { source } of hidden(player, '@iwer/action-player').inputSources.values()) {
        for (const space of [source.gripSpace, source.targetRaySpace]) if (space) hidden(space, '@iwer/xr-space').emulated = false;
      }
      for (const side of ['left', 'right']) controller(side).connected = false;
      player.play();
    },
    playing: () => !!player?.playing,
    visibility(state) { device.updateVisibilityState(state); },
    recenter() { device.recenter(); },
    breakSocket() { for (const socket of sockets) if (socket.url.endsWith('/ws')) socket.close(); },
  };
})();
