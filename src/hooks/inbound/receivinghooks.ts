import { createSecretKey } from 'node:crypto';
import { unsealOrNull } from '../../kernel/envelope.js';
import { type OverlapDeps, previousSecrets, type VerifyingKey } from '../../secrets/module.js';
import type { HookRow } from '../../store/tables/hooks.js';
import type { SenderVerification } from '../senders/contract.js';
import { resolveSender, type Sender } from '../senders/open.js';

export interface ReceivingHook {
  id: string;
  userId: string;
  name: string;
  /** Null without a path, or with another trigger. */
  path: string | null;
  action: HookRow['action'];
  isEnabled: boolean;
  secrets: VerifyingKey[];
  /** Null for the built-in schemes, which need no description. */
  sender: Sender | null;
  credentialId: string | null;
  /** Null if it is not needed at once. */
  row: HookRow | null;
}

/** Actions whose effects may all be in the database. */
const DATABASE_ACTIONS: HookRow['action'][] = ['notify', 'execute_tool'];

/** Kept in memory: settings that deliveries, batches or replies need at once. */
const isKept = ({ action, action_config }: HookRow): boolean =>
  DATABASE_ACTIONS.includes(action) || action_config.includes('"reply":');

/** An in-memory index. The transaction that stores a delivery checks each hook again. */
export const createDirectory = (
  deps: OverlapDeps,
  keysOf: (credentialId: string) => VerifyingKey[],
) => {
  const byId = new Map<string, ReceivingHook & { concurrency: number | null }>();
  const byPath = new Map<string, ReceivingHook[]>();

  const onPath = (path: string): ReceivingHook[] => byPath.get(path) ?? [];

  const remove = (id: string): void => {
    const path = byId.get(id)?.path;
    byId.delete(id);
    if (path === undefined || path === null) return;
    const others = onPath(path).filter((hook) => hook.id !== id);
    if (others.length === 0) byPath.delete(path);
    else byPath.set(path, others);
  };

  const put = (row: HookRow): void => {
    remove(row.id);
    const path = row.trigger === 'webhook' ? row.webhook_path : null;
    const credentialId = row.trigger === 'webhook' ? row.credential_id : null;
    const own = row.trigger === 'webhook' ? openVerifyingKeys(deps, row) : [];
    const hook = {
      id: row.id,
      userId: row.user_id,
      name: row.name,
      action: row.action,
      isEnabled: row.enabled === 1,
      credentialId,
      get secrets() {
        return credentialId === null ? own : keysOf(credentialId);
      },
      sender: row.trigger === 'webhook' ? senderIn(row) : null,
      path,
      concurrency: row.concurrency,
      row: isKept(row) ? row : null,
    };
    byId.set(row.id, hook);
    if (path !== null) byPath.set(path, [...onPath(path), hook]);
  };

  return {
    onPath,
    byId: (id: string): ReceivingHook | null => byId.get(id) ?? null,
    concurrencyOf: (id: string): number | null => byId.get(id)?.concurrency ?? null,
    put,
    disable: (id: string): void => {
      const hook = byId.get(id);
      if (hook) hook.isEnabled = false;
    },
    remove,
  };
};

const senderIn = ({ trigger_config }: HookRow): Sender | null => {
  const { verify }: { verify?: SenderVerification } = JSON.parse(trigger_config);
  return verify === undefined ? null : resolveSender(verify);
};

export type Directory = ReturnType<typeof createDirectory>;

const openVerifyingKeys = (deps: OverlapDeps, row: HookRow): VerifyingKey[] => {
  const { id, secret_sealed: sealed } = row;
  const secret = sealed === null ? null : unsealOrNull(() => deps.openSecret(id, sealed));
  const own = secret ? [{ key: secret.take(createSecretKey), until: null, isOld: false }] : [];
  const before = previousSecrets(deps, row).map(({ secret, until }) => ({
    key: createSecretKey(Buffer.from(secret)),
    until: Date.parse(until),
    isOld: true,
  }));
  return [...own, ...before];
};
