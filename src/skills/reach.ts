import { realpath } from 'node:fs/promises';
import type { Http } from '../kernel/http.js';
import {
  type ConfinedProcess,
  type Confinement,
  ConfinementFailed,
} from '../providers/confine/confinement.js';
import { connectMcp, type McpAddress } from '../providers/mcp/connect.js';
import { type McpConnection, McpFailed } from '../providers/mcp/connection.js';
import type { ServerSecrets, ServerSpec } from './spec.js';

export interface ReachDeps {
  http: Http;
  confinement: Confinement | null;
  home: string;
  version: string;
  folderOf(userId: string, name: string): Promise<string>;
}

export interface ReachableServer {
  name: string;
  /** Organization that owns the server. Its URL gets no exception from the egress guard. */
  orgId: string | null;
  spec: ServerSpec;
  secrets: ServerSecrets;
}

export const NO_CONFINEMENT_MESSAGE =
  'No confinement works on this machine, so programs of MCP servers cannot be started. Install ' +
  'bubblewrap, or turn on the setting allowUnconfined (ADJUTANT_ALLOW_UNCONFINED)';

/** Limits of one response, and of messages that the server sends by itself. */
const limits = {
  firstByteMs: 120_000,
  silenceMs: 600_000,
  totalMs: 3_600_000,
  maxBytes: 16 * 1024 * 1024,
  // The SDK follows redirects within the server.
  redirects: 0,
};

/** Errors: McpFailed. */
export const reach = async (
  deps: ReachDeps,
  { target, userId }: { target: ReachableServer; userId: string },
  signal: AbortSignal,
): Promise<McpConnection> => {
  const { timeoutMs } = target.spec;
  try {
    return await connectMcp(serverAddress(deps, target, userId), {
      version: deps.version,
      timeoutMs,
      signal,
    });
  } catch (error) {
    if (!(error instanceof ConfinementFailed)) throw error;
    throw new McpFailed('unreached', error.message, error);
  }
};

const serverAddress = (deps: ReachDeps, target: ReachableServer, userId: string): McpAddress => {
  const { at } = target.spec;
  if (at.kind === 'stdio') return { kind: 'stdio', hold: () => hold(deps, target, userId) };
  const { headers } = target.secrets;
  const fetch = deps.http.fetchFor(at.url, { ...limits, isTrusted: target.orgId === null });
  return { kind: 'http', url: at.url, headers, fetch };
};

const hold = async (
  deps: ReachDeps,
  { name, spec, secrets }: ReachableServer,
  userId: string,
): Promise<ConfinedProcess> => {
  const { at } = spec;
  if (at.kind !== 'stdio' || !deps.confinement) throw new ConfinementFailed(NO_CONFINEMENT_MESSAGE);
  await checkReadable(deps.home, at.readable);
  return deps.confinement.hold({
    argv: [at.command, ...at.args],
    folder: await deps.folderOf(userId, `mcp-${name}`),
    env: secrets.env,
    network: at.network,
    readable: at.readable,
  });
};

/** The data folder contains the keys and the database. */
const checkReadable = async (home: string, readable: string[]): Promise<void> => {
  const own = await realpath(home);
  for (const path of readable) {
    const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
      throw new ConfinementFailed(
        `readable contains ${path}, which cannot be used: ${error.code}. Check that the folder exists`,
      );
    });
    const isOpen = [own, real].every((one) => `${one}/`.startsWith(`${real}/`));
    if (isOpen || `${real}/`.startsWith(`${own}/`)) {
      throw new ConfinementFailed(
        `readable must not contain ${path}, because it overlaps with the data folder of the daemon. Choose another folder`,
      );
    }
  }
};
