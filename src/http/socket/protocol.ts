import type { Boom } from '@hapi/boom';
import type { SocketExchange } from './exchange.js';
import type { Frame } from './frames.js';

/** A protocol of clients. There are two: plain frames, and nes's. */
export interface Dialect {
  /** Runs before the reply to the first frame. */
  greet(exchange: SocketExchange): Promise<unknown>;
  /**
   * Returns the reply to one frame; undefined if there is none. Errors of the client are thrown as
   * Boom.
   */
  answer(frame: Frame, exchange: SocketExchange): Promise<object | undefined>;
  /** Builds the frame for an error. `frame` is missing if it could not be parsed. */
  fault(error: Boom, frame?: Frame): object;
  /** Converts one of nes's publications to this dialect, if it has a format of its own. */
  publication?(text: string): string;
  /** The text of a heartbeat, if it is not a WebSocket ping. */
  heartbeat?: string;
}
