import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { unsealOrNull } from '../kernel/envelope.js';
import { mint } from '../kernel/ids.js';
import type { Rekey, Secret } from '../secrets/module.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import {
  type CredentialRow,
  type CredentialVersionRow,
  credentialTable,
} from '../store/tables/vault.js';
import { retryUntilWritten, updateIf } from '../store/updateif.js';
import { storedColumns } from '../store/view.js';
import type { CredentialChanges, NewCredential } from './contract.js';
import type { CredentialsStore } from './queries.js';
import { remindersPast } from './terms.js';

export interface VaultServiceDeps {
  credentials: CredentialsStore;
  clock: Clock;
  sealVersion(of: Omit<CredentialVersionRow, 'sealed'>, value: string): string;
  openVersion(of: CredentialVersionRow): Secret;
  accounts: {
    /** Throws 401 if the password is wrong, and 429 after too many failures. */
    proveFresh(by: Caller, password: string): Promise<void>;
  };
  /** Called after each change. */
  applied(): Promise<void>;
  rekey: Rekey;
}

const MAX_CREDENTIALS = 1000;
export type VaultCaller = Caller & Recorder;

export const createCredential = async (
  deps: VaultServiceDeps,
  input: NewCredential,
  by: VaultCaller,
): Promise<CredentialRow> => {
  if ((await deps.credentials.count(by.userId)) >= MAX_CREDENTIALS) {
    throw Boom.conflict(
      `You already have ${MAX_CREDENTIALS} credentials, which is the maximum. Delete a credential first`,
    );
  }
  const row = newRow(deps, input, by.userId);
  const recorded = by.record({ target: row.id, data: { name: row.name } });
  await unlessTaken(row.name, () =>
    deps.credentials.insert(row, newVersion(deps, row, input.value), recorded),
  );
  return row;
};

export const updateCredential = (
  deps: VaultServiceDeps,
  { id, input }: { id: string; input: CredentialChanges },
  by: VaultCaller,
): Promise<CredentialRow> =>
  unlessTaken(input.name ?? '', () =>
    changeCredential(deps, { id, by }, (read, at) => {
      if (isWider(read, input)) refuseDelegate(by);
      const changes = { ...buildCredentialChanges(input, deps.clock.now()), updated_at: at };
      const also = [by.record({ data: { ...input } })];
      return { done: deps.credentials.update({ read, changes, also }), changes };
    }),
  );

/** True if the change allows more tools or hosts. */
const isWider = (read: CredentialRow, { allowedTools, allowedHosts }: CredentialChanges): boolean =>
  isMore(read.allowed_tools, allowedTools) || isMore(read.allowed_hosts, allowedHosts);

const isMore = (before: string, input: string[] = []): boolean => {
  const known = new Set(JSON.parse(before));
  return input.some((one) => !known.has(one));
};

/** Whoever adds a host or a tool can have the value sent there, which is as good as a reveal. */
const refuseDelegate = ({ tokenId, impersonator }: Caller): void => {
  if (tokenId === null && !impersonator) return;
  throw Boom.forbidden(
    'Only the owner of the credential may allow more tools or hosts, in a login session. Access tokens and impersonation are not accepted',
    {
      code: 'personal_only',
    },
  );
};

/** Throws 409 while something uses the credential. */
export const deleteCredential = async (
  deps: VaultServiceDeps,
  id: string,
  by: VaultCaller,
): Promise<void> => {
  await retryUntilWritten(async () => {
    const row = await findCredential(deps, by.userId, id);
    const users = await deps.credentials.users(id);
    refuseUsed(row, users.names);
    const recorded = by.record({ data: { name: row.name } });
    return (await deps.credentials.delete(row, users, recorded)) || null;
  });
  await deps.applied();
};

const refuseUsed = ({ name }: CredentialRow, users: string[]): void => {
  if (users.length === 0) return;
  throw Boom.conflict(
    `${name} is used by ${users.join(', ')}. Assign another credential to each of these first`,
    {
      code: 'credential_in_use',
    },
  );
};

/** The password is required even after a recent login. */
export const revealCredential = async (
  deps: VaultServiceDeps,
  { id, password }: { id: string; password: string },
  by: VaultCaller,
): Promise<{ value: string }> => {
  const { version } = await findCredential(deps, by.userId, id);
  await deps.accounts.proveFresh(by, password);
  const row = await deps.credentials.version(by.userId, id, version);
  if (!row) throw noCredential();
  const value = unsealOrNull(() => deps.openVersion(row))?.take((bytes) => bytes.toString());
  if (value !== undefined) return { value };
  throw damagedValue();
};

export const damagedValue = (): Boom.Boom =>
  Boom.conflict('The stored value of the credential is damaged. Rotate the credential', {
    code: 'value_damaged',
  });

export const findCredential = async (
  { credentials }: { credentials: CredentialsStore },
  userId: string,
  id: string,
): Promise<CredentialRow> => {
  const row = await credentials.get(userId, id);
  if (!row) throw noCredential();
  return row;
};

/** `attempt` is repeated if another change came first. */
export const changeCredential = async (
  deps: VaultServiceDeps,
  { id, by }: { id: string; by: VaultCaller },
  attempt: (
    read: CredentialRow,
    at: string,
  ) => { done: Promise<boolean>; changes: Partial<CredentialRow> },
): Promise<CredentialRow> => {
  const changed = await updateIf({
    clock: deps.clock,
    read: () => findCredential(deps, by.userId, id),
    write: async (read, version) => {
      const { done, changes } = attempt(read, version);
      return (await done) ? { ...read, ...changes } : null;
    },
  });
  await deps.applied();
  return changed;
};

const newRow = (
  { clock }: VaultServiceDeps,
  input: NewCredential,
  userId: string,
): CredentialRow => {
  const now = clock.now();
  return {
    id: mint('credential', now),
    user_id: userId,
    name: input.name,
    type: input.type ?? 'other',
    description: null,
    tags: '[]',
    allowed_tools: '[]',
    allowed_hosts: '[]',
    version: 1,
    expires_at: null,
    last_used_at: null,
    rotated_at: null,
    rotate_every_days: null,
    expiry_told: 0,
    rotation_told: 0,
    created_at: iso(now),
    updated_at: iso(now),
    ...buildCredentialChanges(input, now),
  };
};

export const newVersion = (
  { sealVersion }: { sealVersion: VaultServiceDeps['sealVersion'] },
  row: CredentialRow,
  value: string,
): CredentialVersionRow => {
  const version = {
    credential_id: row.id,
    version: row.version,
    user_id: row.user_id,
    valid_until: null,
    created_at: row.created_at,
  };
  return { ...version, sealed: sealVersion(version, value) };
};

const buildCredentialChanges = (input: CredentialChanges, now: number): Partial<CredentialRow> => ({
  ...storedColumns(credentialTable, input),
  ...(input.expiresAt !== undefined && expiryColumns(input.expiresAt, now)),
  ...(input.rotateEveryDays !== undefined && { rotation_told: 0 }),
});

export const expiryColumns = (expiresAt: string | null, now: number) => ({
  expires_at: expiresAt,
  expiry_told: remindersPast(expiresAt, now),
});

export const refuseImpersonator = ({ impersonator }: Caller): void => {
  if (!impersonator) return;
  throw Boom.forbidden(
    'An admin who impersonates a user may not change the values of credentials',
    {
      code: 'personal_only',
    },
  );
};

const unlessTaken = async <T>(name: string, write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw Boom.conflict(
      `You already have a credential with the name ${name}. Choose another name`,
      {
        code: 'name_taken',
      },
    );
  }
};

const noCredential = (): Boom.Boom => Boom.notFound('No credential with that id');
