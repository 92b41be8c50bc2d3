import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { systemClock } from '../../kernel/clock.js';
import type { ConfinedProcess } from '../confine/confinement.js';
import type { McpConnection } from './connection.js';
import { mcpFailure } from './failure.js';
import { createListing } from './list.js';
import { PipeEnded, PipeTransport } from './pipetransport.js';
import { toMcpResult } from './result.js';
import { loadSdk, type McpSdk } from './sdk.js';
import { watchResponses } from './watch.js';

export type McpAddress =
  | { kind: 'stdio'; hold(): Promise<ConfinedProcess> }
  | { kind: 'http'; url: string; headers: Record<string, string>; fetch: typeof fetch };

const CONNECT_MS = 15_000;
/** Maximum time of a call, regardless of progress reports. */
const MAX_CALL_MS = 600_000;
const FAREWELL_MS = 1_000;

interface ConnectOptions {
  version: string;
  /** Maximum time without a message during a call. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** The server may not send requests to us. Throws McpFailed and the errors of `hold`. */
export const connectMcp = async (
  to: McpAddress,
  { version, timeoutMs, signal }: ConnectOptions,
): Promise<McpConnection> => {
  const sdk = await loadSdk();
  const client = new sdk.Client({ name: 'adjutant', version }, { capabilities: {} });
  const { transport, whyEnded, leave } = await transportTo(sdk, to, () => void client.close());
  const ended = new Promise<void>((resolve) => {
    client.onclose = resolve;
  }).then(whyEnded);
  const { McpError, ErrorCode } = sdk.types;
  const fail = async (error: unknown) => {
    const isClosed = error instanceof McpError && error.code === ErrorCode.ConnectionClosed;
    const isOver = isClosed || error instanceof PipeEnded;
    return mcpFailure(sdk, error, isOver ? await ended : null);
  };
  const giveUp = () => void transport.close();
  signal.addEventListener('abort', giveUp);
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: CONNECT_MS });
  } catch (error) {
    const failure = await fail(error);
    await transport.close();
    throw failure;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
  const close = async () => {
    await leave();
    await client.close();
  };
  const definitions = createListing(sdk, client, fail);
  return { ended, definitions, call: calling({ sdk, client, timeoutMs, fail }), close };
};

const calling =
  (of: {
    sdk: McpSdk;
    client: Client;
    timeoutMs: number;
    fail(error: unknown): Promise<Error>;
  }): McpConnection['call'] =>
  async (name, args, signal) => {
    signal.throwIfAborted();
    const request = { method: 'tools/call' as const, params: { name, arguments: args } };
    try {
      // `callTool` would compile the output schema of the server, including its patterns.
      const result = await of.client.request(request, of.sdk.types.CallToolResultSchema, {
        signal,
        timeout: of.timeoutMs,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: MAX_CALL_MS,
        // Without a listener, the SDK does not request progress.
        onprogress: () => undefined,
      });
      return toMcpResult(result);
    } catch (error) {
      signal.throwIfAborted();
      throw await of.fail(error);
    }
  };

const transportTo = async (sdk: McpSdk, to: McpAddress, broken: () => void) => {
  if (to.kind === 'stdio') {
    const held = await to.hold();
    const transport = new PipeTransport(held, sdk.deserializeMessage);
    const whyEnded = async () => `The server is no longer running: ${await transport.whyEnded()}`;
    return { transport, whyEnded, leave: async () => {} };
  }
  let why = 'The session was closed';
  const transport = new sdk.StreamableHTTPClientTransport(new URL(to.url), {
    requestInit: { headers: to.headers },
    fetch: watchResponses(to.fetch, (error) => {
      why = error.message;
      broken();
    }),
  });
  const leave = async () => {
    const late = systemClock.wait(FAREWELL_MS, undefined, { ref: false });
    // If this fails, the server drops the session by itself.
    await Promise.race([transport.terminateSession().catch(() => undefined), late]);
  };
  return { transport, whyEnded: async () => why, leave };
};
