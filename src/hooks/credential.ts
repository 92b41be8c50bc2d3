import Boom from '@hapi/boom';
import { unsealOrNull } from '../kernel/envelope.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import { orgOf } from '../kernel/ids.js';
import { badRequest } from '../kernel/route.js';
import { isSame } from '../kernel/signature.js';
import type { SecretOpener } from '../secrets/module.js';
import type { HookRow } from '../store/tables/hooks.js';
import type { Vault } from '../vault/module.js';
import type { NewHook } from './contract.js';

interface ReferencesDeps {
  vault: Pick<Vault, 'isOwn' | 'newest'>;
  hooks: { hasMailAccount(userId: string, id: string): Promise<boolean> };
}

/** Credentials and mail accounts of other users count as missing. */
export const checkReferences = async (
  { vault, hooks }: ReferencesDeps,
  userId: string,
  { triggerConfig, actionConfig }: Partial<NewHook>,
): Promise<void> => {
  const { accountId } = triggerConfig ?? {};
  if (accountId !== undefined && !(await hooks.hasMailAccount(userId, accountId))) {
    const message = 'must be the ID of one of your mail accounts';
    throw badRequest([{ path: 'triggerConfig.accountId', message }]);
  }
  const named = {
    'triggerConfig.webhookCredentialId': triggerConfig?.webhookCredentialId,
    'actionConfig.credentialId': actionConfig?.credentialId,
    'actionConfig.reply.credentialId': actionConfig?.reply?.credentialId,
  };
  for (const [path, id] of Object.entries(named)) {
    if (id === undefined || (await vault.isOwn(userId, id))) continue;
    const message =
      orgOf(userId) === null
        ? 'must be the ID of one of your credentials'
        : 'must be the ID of a credential of the organization';
    throw badRequest([{ path, message }]);
  }
  const sent = {
    'actionConfig.credentialId': actionConfig?.credentialId,
    'actionConfig.reply.credentialId': actionConfig?.reply?.credentialId,
  };
  for (const [path, id] of Object.entries(sent)) {
    const value = id === undefined ? null : await vault.newest(id);
    const fault = value === null ? null : faultOfHeaderValue(value);
    if (fault !== null) throw badRequest([{ path, message: `has a value that ${fault}` }]);
  }
};

export const isOwnSecret = (
  { openSecret }: SecretOpener,
  { id, credential_id, secret_sealed: sealed }: HookRow,
  secret: string,
): boolean => {
  if (credential_id !== null) return false;
  if (sealed === null) return secret.trim() === '';
  const given = Buffer.from(secret);
  return unsealOrNull(() => openSecret(id, sealed).take((own) => isSame(own, given))) === true;
};

/** Throws 409 `secret_in_vault` if the hook uses a credential instead. */
export const requireOwnHookSecret = ({ credential_id, secret_sealed }: HookRow): string | null => {
  if (credential_id === null) return secret_sealed;
  throw Boom.conflict(
    'The secret of this hook is a vault credential. Rotate the credential instead',
    {
      code: 'secret_in_vault',
    },
  );
};
