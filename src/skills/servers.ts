import type { Log } from '../kernel/log.js';
import { redactInWorker, redactTextInWorker } from '../kernel/redactinworker.js';
import { type McpConnection, McpFailed } from '../providers/mcp/connection.js';
import type { Definition } from '../providers/mcp/definition.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { isCommitted } from '../store/store.js';
import { ToolFailed, type ToolGroup, ToolRefused } from '../tools/module.js';
import { type CallMcp, mcpGroup, secretTexts, toolError } from './mcptools.js';
import { createPins, type Pin, pinsDigest } from './pinneddefinitions.js';
import { createSessionPool, type ServerFailure, type SessionKey } from './pool.js';
import { NO_CONFINEMENT_MESSAGE, type ReachDeps, reach } from './reach.js';
import {
  createServerRegistry,
  type NewServer,
  type RegisteredServer,
  type ServerRegisterDeps,
} from './serverregistry.js';

export interface ServerState extends RegisteredServer {
  pins: Pin[];
  /** Whether the tools have ever been listed. */
  isKnown: boolean;
  trouble: ServerFailure | null;
  /** Reason why the server cannot run on this machine, or null. */
  whyOff: string | null;
}

export class DefinitionsChanged extends Error {
  override name = 'DefinitionsChanged';
  override message = 'The pending definitions have changed. Review them again.';
}

export interface ServersDeps extends ReachDeps, ServerRegisterDeps {
  log: Log;
}

/** User ID of sessions that the daemon opens itself. */
const DAEMON = 'daemon';

export const createServers = (deps: ServersDeps) => {
  const { log } = deps;
  const register = createServerRegistry(deps);
  const pins = createPins(deps);
  let groups: ToolGroup[] | null = null;
  let before: RegisteredServer[] = [];

  const find = (name: string) => register.all().find((server) => server.name === name);
  const open = async (
    { server, userId }: SessionKey,
    signal: AbortSignal,
  ): Promise<McpConnection> => {
    const { spec, secrets } = find(server) ?? {};
    if (!spec || !secrets) throw new McpFailed('unreached', `Unknown MCP server: ${server}`);
    return reach(deps, { target: { name: server, spec, secrets }, userId }, signal);
  };
  const pool = createSessionPool({ open, clock: deps.clock });

  const seen = new WeakSet<Definition[]>();
  const observe = async (server: string, offered: Definition[]): Promise<void> => {
    if (seen.has(offered)) return;
    if (await pins.observe(server, offered)) groups = null;
    seen.add(offered);
  };

  const look = async (name: string, userId: string): Promise<void> => {
    await pool.drop(name);
    const never = new AbortController().signal;
    try {
      await pool.use({ server: name, userId }, never, async (on) =>
        observe(name, await on.definitions()),
      );
    } catch (error) {
      if (!(error instanceof McpFailed)) throw error;
      log.warn({ server: name, failure: error.kind }, 'MCP server is unreachable');
    }
  };

  /** Connects to new servers and ends the sessions of changed ones. */
  const follow = async (now: RegisteredServer[]): Promise<void> => {
    const gone = before.filter((server) => !now.includes(server));
    const fresh = now.filter((server) => !before.includes(server));
    if (gone.length + fresh.length > 0) groups = null;
    before = now;
    await Promise.all(gone.map(({ name }) => pool.drop(name)));
    for (const { name, spec, origin } of fresh) {
      if (!spec || origin !== 'file' || pins.isKnown(name)) continue;
      look(name, DAEMON).catch((err) =>
        log.warn({ err, server: name }, 'failed to read the tools of an MCP server'),
      );
    }
  };

  const call: CallMcp = async (server, definition, args, { userId, signal }) => {
    const tool = `${server}.${definition.name}`;
    const run = async (on: McpConnection) => {
      const offered = await on.definitions();
      await observe(server, offered);
      const now = offered.find(({ name }) => name === definition.name);
      if (!now || !pins.isPinned(server, now)) throw new ToolRefused(changed(tool, now));
      return on.call(definition.name, args, signal);
    };
    const secrets = secretTexts(find(server)?.secrets);
    const redact = (text: string): Promise<string> => redactTextInWorker(text, secrets);
    const { isError, ...result } = await pool
      .use({ server, userId }, signal, run)
      .catch(async (error: unknown) => {
        throw await toolError(error, tool, redact);
      });
    if (isError)
      throw new ToolFailed(
        (await redact(result.text)) || 'The tool failed without an error message',
        true,
      );
    return redactInWorker(result, secrets);
  };

  const stateOf = (server: RegisteredServer): ServerState => ({
    ...server,
    pins: pins.of(server.name),
    isKnown: pins.isKnown(server.name),
    trouble: pool.troubleOf(server.name),
    whyOff: server.spec?.at.kind === 'stdio' && !deps.confinement ? NO_CONFINEMENT_MESSAGE : null,
  });

  return {
    /** Unknown servers are connected in the background. */
    start: async (): Promise<void> => {
      await pins.load();
      await follow(await register.load());
    },
    refresh: async (): Promise<void> => follow(await register.refresh()),
    all: (): ServerState[] => register.all().map(stateOf),
    /** The array stays the same until something changes. */
    groups: (): ToolGroup[] => {
      groups ??= register.all().flatMap((server) => {
        const { name, spec, whyOff, pins: seen } = stateOf(server);
        return spec ? [mcpGroup({ name, spec, whyOff }, seen, call)] : [];
      });
      return groups;
    },
    add: async (server: NewServer, also: TransactionStep[]): Promise<void> => {
      await register.add(server, also);
      await follow(register.all());
    },
    /** Returns false if the server is already gone. */
    remove: async (
      { name, given }: RegisteredServer,
      also: TransactionStep[],
    ): Promise<boolean> => {
      const { statement, removed } = register.removal(given);
      const steps = [statement, ...also];
      // A server of mcp.json with the same name keeps its accepted tools.
      const removing = name === given ? pins.forget(name, steps) : deps.store.transact(steps);
      if (!(await isCommitted(removing))) return false;
      await removed();
      await follow(register.all());
      return true;
    },
    look,
    /** Errors: DefinitionsChanged. */
    accept: async (
      name: string,
      digest: string,
      { userId, also }: { userId: string; also: TransactionStep[] },
    ): Promise<void> => {
      await pins.accept(name, userId, (offered) => {
        if (pinsDigest(name, offered) !== digest) throw new DefinitionsChanged();
        return also;
      });
      groups = null;
    },
    sweep: pool.sweep,
    stop: pool.close,
  };
};

export type Servers = ReturnType<typeof createServers>;

const changed = (tool: string, now: Definition | undefined): string =>
  now
    ? `${tool} was changed by its server. It is quarantined until an admin accepts it`
    : `${tool} is no longer offered by its server`;
