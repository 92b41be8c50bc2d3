import { type Clock, iso } from '../kernel/clock.js';
import { unsealOrNull } from '../kernel/envelope.js';
import type { Secrets } from '../secrets/module.js';
import { type TransactionStep, UniqueViolation } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import { createMcpFile, type McpFileEntry } from './mcpfile.js';
import {
  InvalidServer,
  SERVER_NAME,
  type ServerEntry,
  type ServerSecrets,
  type ServerSpec,
  splitServerEntry,
} from './spec.js';

export interface RegisteredServer {
  /** Given name, with `@mcp` appended if it cannot be used. */
  name: string;
  given: string;
  /** Organization that owns the server. Null for a server of the installation. */
  orgId: string | null;
  /** `file`: `mcp.json`. */
  origin: 'file' | 'api';
  spec: ServerSpec | null;
  secrets: ServerSecrets;
  /** Null if there is a spec. */
  fault: string | null;
}

export class NameTaken extends Error {
  override name = 'NameTaken';
}

export interface ServerRegisterDeps {
  store: Store;
  clock: Clock;
  file: string;
  /** Bound to the name of the server. */
  sealer: Secrets['sealers']['mcp'];
  reserved: ReadonlySet<string>;
}

export interface NewServer {
  name: string;
  written: ServerEntry;
  ownerId: string;
  orgId: string | null;
}

const DAMAGED = 'The stored secrets are damaged. Remove the server and add it again.';
const NO_SECRETS: ServerSecrets = { env: {}, headers: {} };

/** Servers of `mcp.json`, then those of the API. */
export const createServerRegistry = (deps: ServerRegisterDeps) => {
  const { db } = deps.store;
  const readFile = createMcpFile(deps.file);
  let added: RegisteredServer[] = [];
  let servers: RegisteredServer[] = [];

  const read = new WeakMap<McpFileEntry, RegisteredServer>();
  const ofFile = (written: McpFileEntry): RegisteredServer => {
    const server = read.get(written) ?? toRegisteredServer(written, deps.reserved);
    read.set(written, server);
    return server;
  };

  const refresh = async (): Promise<RegisteredServer[]> => {
    const owned = new Set(added.flatMap(({ name, orgId }) => (orgId === null ? [] : [name])));
    const filed = (await readFile())
      .map(ofFile)
      .map((server) => (owned.has(server.name) ? ownedByOther(server) : server));
    const names = new Set(filed.map(({ name }) => name));
    const rest = added.map((server) => (names.has(server.name) ? shadowed(server) : server));
    servers = [...filed, ...rest].sort((a, b) => (a.name < b.name ? -1 : 1));
    return servers;
  };

  /** The approved organization with the longest slug that begins the name. */
  const findNameOwner = (name: string): Promise<NameOwner | undefined> => {
    const parts = name.split('-');
    return db
      .selectFrom('orgs')
      .select(['id', 'slug'])
      .where(
        'slug',
        'in',
        parts.map((_, at) => parts.slice(0, at).join('-')),
      )
      .where('approved_at', 'is not', null)
      .orderBy((of) => of.fn('length', ['slug']), 'desc')
      .limit(1)
      .executeTakeFirst();
  };

  return {
    load: async (): Promise<RegisteredServer[]> => {
      const rows = await db
        .selectFrom('mcp_servers')
        .select(['name', 'user_id', 'spec', 'sealed'])
        .execute();
      added = rows.map(({ name, user_id: orgId, spec, sealed }) => {
        const opened =
          sealed === null ? null : unsealOrNull(() => deps.sealer.unseal(name, sealed));
        const base = { name, given: name, orgId, origin: 'api' as const };
        if (sealed !== null && opened === null) {
          return { ...base, spec: null, secrets: NO_SECRETS, fault: DAMAGED };
        }
        const secrets = opened === null ? NO_SECRETS : JSON.parse(opened);
        return { ...base, spec: JSON.parse(spec), secrets, fault: null };
      });
      return refresh();
    },
    /** Unchanged servers are the same objects. */
    refresh,
    all: () => servers,
    /** `commit` writes the steps. Errors: InvalidServer, NameTaken. */
    add: async (
      { name, written, ownerId, orgId }: NewServer,
      also: TransactionStep[],
      commit: (steps: TransactionStep[]) => Promise<unknown>,
    ): Promise<void> => {
      if (!SERVER_NAME.test(name))
        throw new InvalidServer(
          'name',
          'must be 1 to 40 letters, digits, - and _, starting with a letter or digit',
        );
      if (deps.reserved.has(name))
        throw new NameTaken(`The name ${name} is reserved. Choose another name`);
      refuseForeignName(orgId, await findNameOwner(name));
      const { spec, secrets } = splitServerEntry(written);
      if ((await refresh()).some((one) => one.name === name)) {
        throw new NameTaken(`An MCP server named ${name} already exists. Choose another name`);
      }
      const row = {
        name,
        owner_id: ownerId,
        spec: JSON.stringify(spec),
        sealed: isEmpty(secrets) ? null : deps.sealer.seal(name, JSON.stringify(secrets)),
        created_at: iso(deps.clock.now()),
        user_id: orgId,
      };
      const insertion = statement(db.insertInto('mcp_servers').values(row), 1);
      await commit([insertion, ...also]).catch((error: unknown) => {
        throw error instanceof UniqueViolation
          ? new NameTaken(`The name ${name} is already in use`)
          : error;
      });
      added = [...added, { name, given: name, orgId, origin: 'api', spec, secrets, fault: null }];
      await refresh();
    },
    /** Call `removed` after the commit. */
    removal: (given: string) => ({
      statement: statement(db.deleteFrom('mcp_servers').where('name', '=', given), 1),
      removed: async (): Promise<void> => {
        added = added.filter((server) => server.given !== given);
        await refresh();
      },
    }),
    /** After the servers of an organization were deleted. */
    forget: async (orgId: string): Promise<void> => {
      added = added.filter((server) => server.orgId !== orgId);
      await refresh();
    },
  };
};

interface NameOwner {
  id: string;
  slug: string;
}

/** Names of an organization begin with its slug and a hyphen. */
const refuseForeignName = (orgId: string | null, owner: NameOwner | undefined): void => {
  if (owner && owner.id !== orgId)
    throw new NameTaken(
      `Names that begin with ${owner.slug}- belong to the organization ${owner.slug}. Choose another name`,
    );
  if (orgId !== null && !owner)
    throw new InvalidServer(
      'name',
      'must begin with the slug of the organization and a hyphen, such as acme-docs',
    );
};

const toRegisteredServer = (
  written: McpFileEntry,
  reserved: ReadonlySet<string>,
): RegisteredServer => {
  const { name } = written;
  const bad = (fault: string): RegisteredServer => ({
    name: `${name}@mcp`,
    given: name,
    orgId: null,
    origin: 'file',
    spec: null,
    secrets: NO_SECRETS,
    fault,
  });
  if ('fault' in written) return bad(written.fault);
  if (reserved.has(name)) return bad(`The name ${name} is reserved. Choose another name`);
  try {
    const own = { name, given: name, orgId: null, origin: 'file' as const, fault: null };
    return { ...own, ...splitServerEntry(written.server) };
  } catch (error) {
    if (!(error instanceof InvalidServer)) throw error;
    return bad(error.message);
  }
};

/** Listed as invalid, so that it can be removed. */
const shadowed = (server: RegisteredServer): RegisteredServer => ({
  ...server,
  name: `${server.name}@mcp`,
  spec: null,
  fault: `mcp.json also defines a server ${server.name}, which takes precedence`,
});

/** The tools of the organization must not appear under a server of the installation. */
const ownedByOther = (server: RegisteredServer): RegisteredServer => ({
  ...server,
  name: `${server.name}@mcp`,
  spec: null,
  fault: `An organization has a server named ${server.name}. Choose another name in mcp.json`,
});

const isEmpty = ({ env, headers }: ServerSecrets): boolean =>
  Object.keys(env).length === 0 && Object.keys(headers).length === 0;
