import { createHash, randomBytes } from 'node:crypto';
import { notApproved } from '../../kernel/sharing.js';
import { isSame } from '../../kernel/signature.js';
import { type By, findManaged, type OrgsDeps } from '../service.js';
import type { ScimStore } from './queries.js';

export type ScimSettingsDeps = Pick<OrgsDeps, 'orgs' | 'accounts'> & { scim: ScimStore };

/** The ID of the organization without its noun, and 32 random bytes. */
const TOKEN = /^scim_([0-9a-z]{26})_[\w-]{43}$/;

const computeDigest = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Returns the ID of the organization. Null if the token is invalid. */
export const identifyProvider = async (scim: ScimStore, token: string): Promise<string | null> => {
  const [, id] = TOKEN.exec(token) ?? [];
  if (id === undefined) return null;
  const org = await scim.org(`org_${id}`);
  if (!org?.token_digest) return null;
  const isValid = isSame(computeDigest(token), Buffer.from(org.token_digest, 'base64url'));
  return isValid ? org.id : null;
};

export const enableScim = async (
  { orgs, scim }: ScimSettingsDeps,
  { id, enabled }: { id: string; enabled: boolean },
  by: By,
): Promise<void> => {
  const org = await findManaged({ orgs }, id, by.userId);
  if (enabled && org.approved_at === null) throw notApproved();
  const record = by.record({ target: id, data: { enabled } });
  await scim.saveSettings(id, { enabled: enabled ? 1 : 0 }, [record]);
};

/** The earlier token stops working. Only for owners, because the token may remove other owners. */
export const createScimToken = async (
  { orgs, scim, accounts }: ScimSettingsDeps,
  { id, password }: { id: string; password: string | undefined },
  by: By,
): Promise<{ token: string }> => {
  await findManaged({ orgs }, id, by.userId, ['owner']);
  await accounts.proveFresh(by, password);
  const token = `scim_${id.replace(/^org_/, '')}_${randomBytes(32).toString('base64url')}`;
  const digest = computeDigest(token).toString('base64url');
  await scim.saveSettings(id, { token_digest: digest }, [by.record({ target: id })]);
  return { token };
};

export const deleteScimToken = async (
  { orgs, scim, accounts }: ScimSettingsDeps,
  { id, password }: { id: string; password: string | undefined },
  by: By,
): Promise<void> => {
  await findManaged({ orgs }, id, by.userId);
  await accounts.proveFresh(by, password);
  await scim.saveSettings(id, { token_digest: null }, [by.record({ target: id })]);
};
