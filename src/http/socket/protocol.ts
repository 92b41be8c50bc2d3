import type { Boom } from '@hapi/boom';
import type { SocketExchange } from './exchange.js';
import type { Frame } from './frames.js';

/** How a client speaks. There are two: plain frames, and nes's. */
export interface Dialect {
  /** Goes before the first frame's answer. */
  greet(exchange: SocketExchange): Promise<unknown>;
  /** The answer to one frame; undefined where none is due. Mistakes of the client's are Boom. */
  answer(frame: Frame, exchange: SocketExchange): Promise<object | undefined>;
  /** A mistake, as a frame. The frame is missing where it could not be read. */
  fault(error: Boom, frame?: Frame): object;
  /** One of nes's publications in this dialect, where that is not nes's own. */
  publication?(text: string): string;
  /** The text that asks for a sign of life, where it is not a WebSocket ping. */
  heartbeat?: string;
}
