/** The headset page: passthrough session, hands to the gateway, camera and state to the operator. */
import * as THREE from 'three';
import { CameraFeed } from '../cameras';
import { Link } from '../link';
import type { HapticMessage, State } from '../protocol';
import { armText, buttonTexts, driver, fromPage } from '../words';
import { PageButtons } from './buttons';
import { isController, pressedKey, readHands, type PoseJson } from './input';
import { COLOURS, panelLines } from './panel';
import { Scene, TILE_SIZES } from './scene';

const MAX_HZ = Math.min(90, Math.max(20, Number(new URLSearchParams(location.search).get('hz')) || 90));
const PANEL_MS = 100;

const element = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as T;
};
const statusLine = element('status');
const enter = element<HTMLButtonElement>('enter');
const exit = element<HTMLButtonElement>('exit');
const pair = element<HTMLFormElement>('pair');
const canvas = element<HTMLCanvasElement>('xr');
const log = (text: string): void => {
  const box = element('log');
  box.textContent = `${text}\n${box.textContent ?? ''}`.slice(0, 2000);
};

let state: State | null = null;
let stateAt = 0;
let lost = '';
let refused = '';
let renderer: THREE.WebGLRenderer | null = null;
let session: XRSession | null = null;
let mode: XRSessionMode | null = null;
let supported: XRSessionMode | null = null;
let sequence = 0;
let nextSend = 0;
let nextPanel = 0;
let recentred = false;
let lastPressed = '';
let tile = Math.min(TILE_SIZES.length - 1, Math.max(0, Number(localStorage.getItem('tile') ?? 1) || 0));
let view = localStorage.getItem('view') ?? '';

const scene = new Scene();
scene.setTileWidth(TILE_SIZES[tile]?.width ?? 1.2);
const feed = new CameraFeed(view, (picture) => scene.showPicture(picture), true);
const link = new Link({
  role: 'operator',
  name: navigator.userAgent.includes('Quest') ? 'Quest' : 'XR browser',
  onMessage: (message) => {
    if (message.type === 'state') {
      state = message;
      stateAt = performance.now();
      chooseView(0);
    } else if (message.type === 'haptic') void haptic(message);
    else if (message.type === 'refused' && !['not_operator', 'wrong_code'].includes(message.kind)) log(message.reason);
    else if (message.type === 'lost_control') {
      lost = message.reason;
      log(lost);
    } else if (message.type === 'operator' && link.isOperator) lost = '';
    showStatus();
  },
  onState: (now, reason) => {
    refused = now === 'refused' ? reason : '';
    showStatus();
  },
});

const buttons = new PageButtons((action) => {
  if (action === 'view_next') return chooseView(1);
  tile = (tile + 1) % TILE_SIZES.length;
  localStorage.setItem('tile', String(tile));
  scene.setTileWidth(TILE_SIZES[tile]?.width ?? 1.2);
});

/** Whether somebody else than a headset drives, so that this page can only watch. */
const watching = (): boolean => state !== null && state.session.provider !== '' && !fromPage(state);

/** Step through the cameras that there are; 0 only makes sure that the chosen one exists. */
function chooseView(step: number): void {
  const cameras = state?.cameras ?? [];
  if (!cameras.length) return;
  const at = cameras.indexOf(view);
  if (step === 0 && at >= 0) return feed.choose(view);
  const preferred = cameras.includes('overshoulder') ? cameras.indexOf('overshoulder') : 0;
  view = cameras[at < 0 ? preferred : (at + step) % cameras.length] ?? '';
  if (step) localStorage.setItem('view', view);
  feed.choose(view);
}

/** Return what hinders the operator that the graph's state cannot say. */
function trouble(): string {
  if (link.state !== 'open') return 'NO LINK to the gateway: nothing is sent';
  if (!link.isOperator && !watching()) return lost || `${state?.operator.name || 'another client'} has the controls; leave and take over`;
  if (performance.now() - stateAt > 1000) return 'the gateway is silent: what you see is old';
  return '';
}

function showStatus(): void {
  const texts = {
    connecting: 'connecting…',
    open: openText(),
    refused: refused || 'pairing needed',
    replaced: 'this page was opened again elsewhere; reload to use it here',
    closed: 'the gateway does not answer; trying again',
  };
  statusLine.textContent = texts[link.state];
  statusLine.className = link.state === 'open' ? (link.isOperator && !watching() ? 'good' : '') : link.state === 'connecting' ? '' : 'bad';
  pair.hidden = link.state !== 'refused';
  const other = link.state === 'open' && !link.isOperator && link.operatorKey !== null && !watching();
  enter.disabled = !supported || link.state !== 'open' || session !== null;
  enter.textContent = !navigator.xr ? 'WebXR is not available here' : !supported ? 'no headset' : `${other ? 'Take over and enter' : 'Enter'} ${supported === 'immersive-ar' ? 'passthrough' : 'VR'}${watching() ? ' to watch' : ''}`;
  showButtons();
}

function openText(): string {
  if (state && watching()) return `paired; the ${driver(state)} drives, so this headset only watches: to drive from here, start with input:=web`;
  if (!state || !state.session.provider) return 'paired; waiting for the graph';
  if (link.isOperator) return 'paired; you have the controls';
  return state.operator.name ? `paired; '${state.operator.name}' has the controls` : 'paired; nobody has the controls';
}

/** List what each button does, when it is known or changes. */
function showButtons(): void {
  document.body.classList.toggle('watching', watching());
  const list = element('buttons');
  const shown = state?.session.provider ? buttonTexts(state) : '';
  if (list.textContent !== shown) list.textContent = shown;
}

async function haptic(message: HapticMessage): Promise<void> {
  const source = [...(session?.inputSources ?? [])].find((s) => s.handedness === message.hand && isController(s));
  const actuator = source?.gamepad?.hapticActuators?.[0] as { pulse?: (value: number, ms: number) => Promise<boolean> } | undefined;
  let ok = false;
  try {
    ok = (await actuator?.pulse?.(message.intensity, message.ms)) === true;
  } catch {
    // a controller that was just put down cannot buzz; the answer says so
  }
  link.send({ type: 'ack', of: 'haptic', id: message.id, ok });
}

const event = (name: string, detail = ''): void => void link.send({ type: 'event', event: name, detail });

function onFrame(_time: number, frame: XRFrame | undefined, renderer: THREE.WebGLRenderer): void {
  const reference = renderer.xr.getReferenceSpace();
  if (!frame || !session || !reference) return;
  const now = performance.now();
  let head: PoseJson = { position: null, orientation: null, tracked: false };
  try {
    const pose = frame.getViewerPose(reference);
    if (pose) {
      const { position: p, orientation: q } = pose.transform;
      head = { position: [p.x, p.y, p.z], orientation: [q.x, q.y, q.z, q.w], tracked: !pose.emulatedPosition };
    }
  } catch {
    // hidden session: no pose, and the frame says so
  }
  const hands = readHands(frame, session, reference);
  // 1 ms of slack against the jitter of the display clock
  if (now >= nextSend - 1) {
    nextSend = Math.max(nextSend + 1000 / MAX_HZ, now);
    // while another page has the controls, ours would only be refused
    const pressed = pressedKey(hands);
    const sent = (link.isOperator || link.operatorKey === null) && link.sendFrame({
      type: 'frame',
      seq: ++sequence,
      ts_ms: performance.timeOrigin + now,
      vr_mode: mode,
      dead_man: hands.left.squeeze > 0 || hands.right.squeeze > 0,
      recentred,
      head,
      ...hands,
    }, pressed !== lastPressed);
    if (sent) [recentred, lastPressed] = [false, pressed];
  }
  if (session.visibilityState === 'visible') buttons.update(now, hands, state?.session.bindings ?? []);
  else buttons.reset();
  scene.place(head);
  if (now >= nextPanel) {
    nextPanel = now + PANEL_MS;
    scene.showLines(panelLines({ state, trouble: trouble(), view, tile: TILE_SIZES[tile]?.name ?? '' }));
  }
  for (const side of ['left', 'right'] as const) {
    const arm = state?.arms.find((a) => a.hand === side);
    scene.showHand(side, hands[side].position, arm ? COLOURS[armText(arm, state?.session.provider ?? '').tone] : COLOURS.idle);
  }
  renderer.render(scene.scene, scene.camera);
}

function makeRenderer(): THREE.WebGLRenderer {
  const made = new THREE.WebGLRenderer({ canvas, alpha: true, antialias: true });
  made.xr.enabled = true;
  made.xr.setReferenceSpaceType('local-floor');
  return made;
}

async function start(): Promise<void> {
  if (!navigator.xr || !supported) return;
  const options: XRSessionInit = { requiredFeatures: ['local-floor'], optionalFeatures: ['hand-tracking'] };
  try {
    session = await navigator.xr.requestSession(supported, options);
  } catch (error) {
    log(`the browser refused the session: ${String(error)}; press the button again and allow it`);
    return;
  }
  mode = supported;
  const started = session;
  if (!link.isOperator && !watching()) link.send({ type: 'claim' });
  renderer ??= makeRenderer();
  const drawing = renderer;
  drawing.setClearColor(0x000000, mode === 'immersive-ar' ? 0 : 1);
  started.addEventListener('end', () => {
    event('end');
    drawing.setAnimationLoop(null);
    session = null;
    canvas.classList.remove('live');
    exit.hidden = true;
    buttons.reset();
    showStatus();
  });
  started.addEventListener('visibilitychange', () => event('visibility', started.visibilityState));
  started.addEventListener('inputsourceschange', (change) => {
    const names = (sources: readonly XRInputSource[]): string => sources.map((s) => `${s.handedness}${isController(s) ? '' : ' (hand)'}`).join('+');
    event('inputs', `added ${names(change.added) || 'none'}, removed ${names(change.removed) || 'none'}`);
  });
  canvas.classList.add('live');
  await drawing.xr.setSession(started);
  drawing.xr.getReferenceSpace()?.addEventListener('reset', () => {
    recentred = true;
    scene.unplace();
    event('recentred');
  });
  scene.unplace();
  nextSend = 0;
  exit.hidden = false;
  event('start', `${mode}, ${started.environmentBlendMode}`);
  showStatus();
  drawing.setAnimationLoop((time, frame) => onFrame(time, frame, drawing));
}

async function probe(): Promise<void> {
  for (const wanted of ['immersive-ar', 'immersive-vr'] as const) {
    if (await navigator.xr?.isSessionSupported(wanted).catch(() => false)) {
      supported = wanted;
      break;
    }
  }
  showStatus();
}

enter.onclick = () => void start();
exit.onclick = () => void session?.end();
pair.onsubmit = (submitted) => {
  submitted.preventDefault();
  sessionStorage.setItem('code', element<HTMLInputElement>('code').value.trim());
  link.connect();
};
link.connect();
navigator.xr?.addEventListener('devicechange', () => void probe());
void probe();
