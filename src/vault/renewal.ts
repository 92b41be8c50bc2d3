import { type Clock, iso } from '../kernel/clock.js';
import type { CredentialsStore } from './queries.js';
import { newVersion, type VaultServiceDeps } from './service.js';

/** A value that a service issued to replace another one. */
interface IssuedValue {
  userId: string;
  credentialId: string;
  value: string;
  before: string;
}

/**
 * Stores the value as the newest version, like a rotation. Resolves to false if the credential was
 * changed meanwhile.
 */
export type Renewal = (issued: IssuedValue) => Promise<boolean>;

interface RenewalDeps extends Pick<VaultServiceDeps, 'sealVersion' | 'openVersion'> {
  credentials: CredentialsStore;
  clock: Clock;
  applied(): Promise<void>;
}

/** How long the replaced value can be restored. */
const OVERLAP_MS = 3_600_000;

/** For credentials whose values are replaced by the service that uses them. */
export const createRenewal =
  (deps: RenewalDeps): Renewal =>
  async ({ userId, credentialId, value, before }) => {
    const { credentials, clock } = deps;
    const read = await credentials.get(userId, credentialId);
    const newest = read && (await credentials.version(userId, credentialId, read.version));
    if (!read || !newest) return false;
    const isSame = deps.openVersion(newest).take((bytes) => bytes.toString() === before);
    if (!isSame) return false;
    const now = clock.now();
    const at = iso(now);
    const later = iso(Math.max(now, Date.parse(read.updated_at) + 1));
    const changes = {
      version: read.version + 1,
      rotated_at: at,
      rotation_told: 0,
      updated_at: later,
    };
    const version = newVersion(deps, { ...read, ...changes, created_at: at }, value);
    const change = { read, changes, also: [] };
    const isStored = await credentials.rotate(change, version, iso(now + OVERLAP_MS));
    if (isStored) await deps.applied();
    return isStored;
  };
