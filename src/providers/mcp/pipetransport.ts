import { StringDecoder } from 'node:string_decoder';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { NamedError } from '../../kernel/failure.js';
import type { ConfinedProcess } from '../confine/confinement.js';

/** Maximum output between two of our messages. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_LINES = 20_000;

/** The process itself reports the reason. */
export class PipeEnded extends NamedError {}

/** MCP over stdio: one JSON message per line. */
export class PipeTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #bytes = 0;
  #lines = 0;
  #pieces: string[] = [];
  #isOver = false;
  #excess: string | null = null;

  constructor(
    private readonly held: ConfinedProcess,
    private readonly parse: (line: string) => JSONRPCMessage,
  ) {}

  async start(): Promise<void> {
    const decoder = new StringDecoder('utf8');
    this.held.stdout.on('data', (piece: Buffer) => this.#take(decoder.write(piece), piece.length));
    this.held.stdout.on('error', (error) => this.onerror?.(error));
    void this.held.ended.then(() => this.#end());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver || !this.held.stdin.writable) throw new PipeEnded();
    this.#bytes = 0;
    this.#lines = 0;
    this.held.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.held.kill();
    await this.held.ended;
    this.#end();
  }

  async whyEnded(): Promise<string> {
    const how = await this.held.ended;
    return this.#excess ?? how;
  }

  #take(text: string, bytes: number): void {
    if (this.#isOver) return;
    this.#bytes += bytes;
    const [first = '', ...rest] = text.split('\n');
    this.#pieces.push(first);
    for (const next of rest) {
      this.#receive(this.#pieces.join(''));
      this.#pieces = [next];
    }
    if (this.#bytes > MAX_BYTES || this.#lines > MAX_LINES) this.#cutOff();
  }

  #receive(line: string): void {
    this.#lines += 1;
    if (this.#isOver || line.trim() === '' || this.#lines > MAX_LINES) return;
    try {
      this.onmessage?.(this.parse(line));
    } catch (error) {
      // A server may print other lines.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #cutOff(): void {
    this.#excess = 'it was ended because it exceeded the output limit';
    this.held.kill();
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pieces = [];
    this.onclose?.();
  }
}
