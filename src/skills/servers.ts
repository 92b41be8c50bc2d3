import { getEgressRefusal } from '../kernel/egress.js';
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
import { InvalidServer, type ServerEntry } from './spec.js';

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
  const ofOrg = (orgId: string) => register.all().filter((server) => server.orgId === orgId);
  const open = async (
    { server, userId }: SessionKey,
    signal: AbortSignal,
  ): Promise<McpConnection> => {
    const { spec, secrets, orgId = null } = find(server) ?? {};
    if (!spec || !secrets) throw new McpFailed('unreached', `Unknown MCP server: ${server}`);
    return reach(deps, { target: { name: server, orgId, spec, secrets }, userId }, signal);
  };
  const pool = createSessionPool({ open, clock: deps.clock });

  const seen = new WeakSet<Definition[]>();
  const observe = async (server: string, offered: Definition[]): Promise<void> => {
    if (seen.has(offered) || !find(server)) return;
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
    const { orgId = null, secrets: stored } = find(server) ?? {};
    if (orgId !== null && orgId !== userId) throw new ToolRefused(`No tool named ${tool}`);
    const run = async (on: McpConnection) => {
      const offered = await on.definitions();
      await observe(server, offered);
      const now = offered.find(({ name }) => name === definition.name);
      if (!now || !pins.isPinned(server, now)) throw new ToolRefused(changed(tool, now));
      return on.call(definition.name, args, signal);
    };
    const secrets = secretTexts(stored);
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
        const { name, orgId, spec, whyOff, pins: seen } = stateOf(server);
        return spec ? [mcpGroup({ name, orgId, spec, whyOff }, seen, call)] : [];
      });
      return groups;
    },
    /** Errors: InvalidServer, NameTaken. */
    add: async (server: NewServer, also: TransactionStep[]): Promise<void> => {
      if (server.orgId !== null) refuseOrgServer(server.written, deps.http);
      // Earlier tools of the name may be those of a server of the installation.
      await register.add(server, also, (steps) =>
        server.orgId === null ? deps.store.transact(steps) : pins.forget(server.name, steps),
      );
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
    /** Ends the sessions with the servers of an organization. */
    disconnect: async (orgId: string): Promise<void> => {
      await Promise.all(ofOrg(orgId).map(({ name }) => pool.drop(name)));
    },
    /** After the servers of an organization were deleted. */
    forget: async (orgId: string): Promise<void> => {
      const gone = ofOrg(orgId);
      await register.forget(orgId);
      for (const { name } of gone) await pins.forget(name, []);
      await follow(register.all());
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

const refuseOrgServer = (
  { url, everyone }: ServerEntry,
  { check }: Pick<ReachDeps['http'], 'check'>,
): void => {
  if (everyone)
    throw new InvalidServer('everyone', 'is not supported for MCP servers of an organization');
  const refusal = url === undefined ? null : getEgressRefusal(() => check(url));
  if (refusal !== null) throw new InvalidServer('url', `cannot be used: ${refusal}`);
};

const changed = (tool: string, now: Definition | undefined): string =>
  now
    ? `${tool} was changed by its server. It is quarantined until an admin accepts it`
    : `${tool} is no longer offered by its server`;
