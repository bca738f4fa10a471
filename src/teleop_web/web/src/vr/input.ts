/** Reading hands: WebXR input sources to the frame's hands. No DOM, no WebGL: tested with plain objects. */

export interface PoseJson {
  position: number[] | null;
  orientation: number[] | null;
  tracked: boolean;
}

export interface HandJson {
  position: number[] | null;
  orientation: number[] | null;
  grip: PoseJson | null;
  aim: PoseJson | null;
  trigger: number;
  squeeze: number;
  thumbstick: [number, number];
  buttons: { primary: boolean; secondary: boolean; stick: boolean; menu: boolean };
  tracked: boolean;
  connected: boolean;
}

export type Side = 'left' | 'right';

/** A controller has buttons; a bare hand may come with a gamepad for its pinch, and must never drive. */
export function isController(source: XRInputSource): boolean {
  return !source.hand && !!source.gamepad && source.gamepad.buttons.length >= 2;
}

export function absentHand(): HandJson {
  return {
    position: null,
    orientation: null,
    grip: null,
    aim: null,
    trigger: 0,
    squeeze: 0,
    thumbstick: [0, 0],
    buttons: { primary: false, secondary: false, stick: false, menu: false },
    tracked: false,
    connected: false,
  };
}

/** getPose may throw (hidden session), return null (nothing known) or an estimate (emulatedPosition). */
export function readPose(frame: XRFrame, space: XRSpace | null | undefined, reference: XRReferenceSpace): PoseJson | null {
  let pose: XRPose | undefined | null = null;
  try {
    pose = space ? frame.getPose(space, reference) : null;
  } catch {
    return null;
  }
  if (!pose) return null;
  const p = pose.transform.position;
  const q = pose.transform.orientation;
  return { position: [p.x, p.y, p.z], orientation: [q.x, q.y, q.z, q.w], tracked: !pose.emulatedPosition };
}

const value = (pad: Gamepad, index: number): number => Math.min(1, Math.max(0, pad.buttons[index]?.value ?? 0));
const pressed = (pad: Gamepad, index: number): boolean => pad.buttons[index]?.pressed ?? false;
const axis = (pad: Gamepad, index: number): number => Math.min(1, Math.max(-1, pad.axes[index] ?? 0));

/** Read one controller. The gamepad is live, so its values are copied now. Indices are those of xr-standard. */
export function readHand(frame: XRFrame, source: XRInputSource, reference: XRReferenceSpace): HandJson {
  const hand = absentHand();
  const pad = source.gamepad;
  if (!pad) return hand;
  hand.connected = true;
  hand.grip = readPose(frame, source.gripSpace, reference);
  hand.aim = readPose(frame, source.targetRaySpace, reference);
  hand.position = hand.grip?.position ?? null;
  hand.orientation = hand.grip?.orientation ?? null;
  hand.tracked = hand.grip?.tracked ?? false;
  hand.trigger = value(pad, 0);
  hand.squeeze = value(pad, 1);
  hand.thumbstick = [axis(pad, 2), axis(pad, 3)];
  hand.buttons = {
    stick: pressed(pad, 3),
    primary: pressed(pad, 4),
    secondary: pressed(pad, 5),
    // 7 is the menu button of Quest Touch on the left; on Touch Plus it is an extra sensor
    menu: source.handedness === 'left' && pad.buttons.length === 8 && pressed(pad, 7),
  };
  return hand;
}

/** Read both hands by handedness; indices and order of the sources change when controllers are put down. */
export function readHands(frame: XRFrame, session: XRSession, reference: XRReferenceSpace): Record<Side, HandJson> {
  const hands = { left: absentHand(), right: absentHand() };
  // with the system menu open the buttons mean something else: a gap, so that a grip has to open again
  if (session.visibilityState !== 'visible') return hands;
  for (const source of session.inputSources) {
    const side = source.handedness;
    if ((side === 'left' || side === 'right') && isController(source)) hands[side] = readHand(frame, source, reference);
  }
  return hands;
}

/** Return what is pressed as one text: it changes with every press and release, and as a grip closes or opens by a tenth. */
export function pressedKey(hands: Record<Side, HandJson>): string {
  const one = (hand: HandJson): string => Object.values(hand.buttons).concat(hand.connected).map(Number).join('') + Math.floor(hand.squeeze * 10);
  return `${one(hands.left)} ${one(hands.right)}`;
}
