/** One camera view: newest picture only; a picture is confirmed when it was decoded, so a slow link never queues. */
import { pairingCode } from './link';

const RETRY_MS = 1000;

export class CameraFeed {
  pictures = 0;
  lastAt = 0;
  private socket: WebSocket | null = null;
  private stopped = false;

  /**
   * @param onPicture takes each decoded picture and must close it when done
   * @param flip turn it upside down, as WebGL textures want it
   */
  constructor(private view: string, private readonly onPicture: (picture: ImageBitmap) => void, private readonly flip = false) {
    this.connect();
  }

  /** Look through another camera. */
  choose(view: string): void {
    if (view === this.view) return;
    this.view = view;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(`view:${view}`);
  }

  stop(): void {
    this.stopped = true;
    this.socket?.close();
  }

  private connect(): void {
    if (this.stopped) return;
    const secure = location.protocol === 'https:' ? 'wss' : 'ws';
    const query = new URLSearchParams({ code: pairingCode(), view: this.view });
    const socket = new WebSocket(`${secure}://${location.host}/ws/camera?${query}`);
    this.socket = socket;
    const opened = this.view;
    socket.binaryType = 'blob';
    socket.onopen = () => {
      if (this.view !== opened) socket.send(`view:${this.view}`);
    };
    socket.onmessage = (event) => void this.receive(socket, event.data as Blob);
    socket.onclose = () => setTimeout(() => this.connect(), RETRY_MS);
  }

  private async receive(socket: WebSocket, blob: Blob): Promise<void> {
    try {
      const picture = await createImageBitmap(blob, this.flip ? { imageOrientation: 'flipY' } : {});
      this.pictures++;
      this.lastAt = performance.now();
      this.onPicture(picture);
    } catch {
      // a broken JPEG is skipped; its successor is on the way
    }
    if (socket.readyState === WebSocket.OPEN) socket.send('ok');
  }
}
