import Boom from '@hapi/boom';
import { Close } from './connection.js';
import { type ExchangeShared, type SocketClient, SocketExchange } from './exchange.js';
import { type Frame, readFrame } from './frames.js';
import { nes } from './nes.js';
import { plainProtocol } from './plain.js';
import type { Dialect } from './protocol.js';

interface OpenedDialect {
  dialect: Dialect;
  exchange: SocketExchange;
  /** Resolves when nes knows the client. */
  greeting: Promise<unknown>;
}

/**
 * The frames of one client and their replies. The first frame decides the dialect, and only then is
 * the client added to nes: before that, nes could not send it anything.
 */
export class FrameLoop {
  private begun: OpenedDialect | undefined;
  private unanswered = 0;

  constructor(
    private readonly client: SocketClient,
    private readonly around: ExchangeShared,
  ) {}

  /**
   * Handles a frame. The reply is sent when it is ready, whatever else is under way. Never rejects.
   */
  async hear(text: string): Promise<void> {
    this.unanswered++;
    const answer = await this.answer(text);
    this.unanswered--;
    const { wire } = this.client;
    if (answer) wire.write(JSON.stringify(answer));
    if (this.begun?.exchange.isSignedOut) wire.end(Close.signedOut, 'The session has ended');
  }

  /** Called when the client is gone. */
  leave(): void {
    this.begun?.exchange.leave();
  }

  private async answer(text: string): Promise<object | undefined> {
    let frame: Frame | undefined;
    try {
      frame = readFrame(text);
      if (this.unanswered > this.around.limits.maxUnanswered) {
        throw Boom.tooManyRequests('Too many frames wait for an answer');
      }
      this.begun ??= this.begin(frame);
      await this.begun.greeting;
      return await this.begun.dialect.answer(frame, this.begun.exchange);
    } catch (error) {
      return (this.begun?.dialect ?? plainProtocol).fault(this.mistake(error), frame);
    }
  }

  private begin(frame: Frame): OpenedDialect {
    const dialect = frame.type === 'hello' ? nes : plainProtocol;
    const exchange = new SocketExchange(this.client, this.around, dialect);
    return { dialect, exchange, greeting: dialect.greet(exchange) };
  }

  /** Converts an error. An internal one is logged, and the client gets no details of it. */
  private mistake(error: unknown): Boom.Boom {
    if (Boom.isBoom(error)) return error;
    this.around.log('ws.failed', { userId: this.client.wire.identity.userId, err: error });
    return Boom.internal();
  }
}
