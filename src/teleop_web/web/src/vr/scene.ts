/** The cluster that floats before the operator: camera tile and text panel, as world quads. */
import * as THREE from 'three';
import { draw, type Line } from './panel';

export const TILE_SIZES = [
  { name: 'S', width: 0.8 },
  { name: 'M', width: 1.2 },
  { name: 'L', width: 1.8 },
] as const;

const DISTANCE = 1.6;
const PANEL_WIDTH = 1.3;
/** from the tile's lower edge to the panel's centre: the panel is tilted towards the eyes */
const PANEL_GAP = 0.42;
const PANEL_PIXELS: [number, number] = [1280, 720];

export class Scene {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera();
  private readonly cluster = new THREE.Group();
  private readonly tile: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>;
  private readonly panel: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>;
  private readonly hands: Record<'left' | 'right', THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial>>;
  private readonly context: CanvasRenderingContext2D;
  private readonly panelTexture: THREE.CanvasTexture;
  private drawn = '';
  private aspect = 3 / 4;
  private width: number = TILE_SIZES[1].width;
  private placed = false;

  constructor() {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = PANEL_PIXELS;
    const context = canvas.getContext('2d');
    if (!context) throw new Error('2D canvas not available');
    this.context = context;
    this.panelTexture = new THREE.CanvasTexture(canvas);
    this.panelTexture.colorSpace = THREE.SRGBColorSpace;
    // a texel is about a pixel of the headset at this distance; making mipmaps of each repaint would cost whole frames
    this.panelTexture.generateMipmaps = false;
    this.panelTexture.minFilter = THREE.LinearFilter;
    const flat = (options: THREE.MeshBasicMaterialParameters): THREE.MeshBasicMaterial => new THREE.MeshBasicMaterial({ toneMapped: false, ...options });
    this.tile = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), flat({ color: 0x1c2128 }));
    const height = (PANEL_WIDTH * PANEL_PIXELS[1]) / PANEL_PIXELS[0];
    this.panel = new THREE.Mesh(new THREE.PlaneGeometry(PANEL_WIDTH, height), flat({ map: this.panelTexture, transparent: true }));
    const ball = (): THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial> => new THREE.Mesh(new THREE.SphereGeometry(0.012, 12, 8), flat({}));
    this.hands = { left: ball(), right: ball() };
    this.cluster.add(this.tile, this.panel);
    this.scene.add(this.cluster, this.hands.left, this.hands.right);
    this.arrange();
  }

  /** Put the cluster before the head, once and after each recentre. */
  place(head: { position: number[] | null; orientation: number[] | null }): void {
    if (this.placed || !head.position || !head.orientation) return;
    const position = new THREE.Vector3().fromArray(head.position);
    const forward = new THREE.Vector3(0, 0, -1).applyQuaternion(new THREE.Quaternion().fromArray(head.orientation));
    const yaw = Math.atan2(-forward.x, -forward.z);
    this.cluster.position.set(position.x - Math.sin(yaw) * DISTANCE, position.y, position.z - Math.cos(yaw) * DISTANCE);
    this.cluster.rotation.set(0, yaw, 0);
    this.placed = true;
  }

  unplace(): void {
    this.placed = false;
  }

  setTileWidth(width: number): void {
    this.width = width;
    this.arrange();
  }

  /** Show a picture, already flipped for WebGL. */
  showPicture(picture: ImageBitmap): void {
    const material = this.tile.material;
    const old = material.map;
    const sameSize = old && (old.image as ImageBitmap).width === picture.width && (old.image as ImageBitmap).height === picture.height;
    if (old && sameSize) {
      (old.image as ImageBitmap).close();
      old.image = picture;
      old.needsUpdate = true;
      return;
    }
    old?.dispose();
    const texture = new THREE.Texture(picture);
    texture.flipY = false;
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.generateMipmaps = false;
    texture.minFilter = THREE.LinearFilter;
    texture.needsUpdate = true;
    material.map = texture;
    material.color.set(0xffffff);
    material.needsUpdate = true;
    this.aspect = picture.height / picture.width;
    this.arrange();
  }

  /** Repaint the panel when its text changed. */
  showLines(lines: Line[]): void {
    const key = JSON.stringify(lines);
    if (key === this.drawn) return;
    this.drawn = key;
    draw(this.context, lines);
    this.panelTexture.needsUpdate = true;
  }

  /** Mark a hand in the colour of its arm's state. */
  showHand(side: 'left' | 'right', position: number[] | null, colour: string): void {
    const ball = this.hands[side];
    ball.visible = position !== null;
    if (position) ball.position.fromArray(position);
    ball.material.color.set(colour);
  }

  private arrange(): void {
    const height = this.width * this.aspect;
    this.tile.scale.set(this.width, height, 1);
    this.tile.position.set(0, 0.1, 0);
    // the panel hangs below the tile and a little nearer: text never lies on the picture it explains
    this.panel.position.set(0, 0.1 - height / 2 - PANEL_GAP, 0.08);
    this.panel.rotation.set(-0.25, 0, 0);
  }
}
