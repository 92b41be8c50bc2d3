import { type Clock, iso } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
import type { Secret } from './secret.js';

/** A secret of before, which is still good. */
interface OldSecret {
  secret: string;
  /** ISO 8601. */
  until: string;
}

/** What has a secret of its own: those of before are sealed together. */
interface Rotated {
  id: string;
  old_secret_sealed: string | null;
  /** When the last of them ends, ISO 8601. */
  old_secret_until: string | null;
}

export interface OverlapDeps {
  clock: Clock;
  openSecret(id: string, sealed: string): Secret;
}

export interface RotationDeps extends OverlapDeps {
  sealSecret(id: string, secret: string): string;
}

/** Ours: of more rotations within one overlap the oldest secrets are good no more. */
const MOST = 4;
/** The secret, percent-encoded, and when it ends. */
const LINE = /^(\S+) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/** Those of before that are good now, the newest first; none where they were damaged. */
export const oldSecretsOf = (deps: OverlapDeps, row: Rotated): OldSecret[] => {
  const { id, old_secret_sealed, old_secret_until } = row;
  if (old_secret_sealed === null || old_secret_until === null) return [];
  const text = textIn(deps, id, old_secret_sealed);
  if (text === null) return [];
  return secretsIn(text, old_secret_until).filter(
    ({ until }) => Date.parse(until) > deps.clock.now(),
  );
};

/** A secret that stands alone is of the days when there was but one. */
const secretsIn = (text: string, until: string): OldSecret[] => {
  const lines = text.split('\n').map((line) => LINE.exec(line));
  return lines.every((line) => line !== null)
    ? lines.map(([, secret = '', end = until]) => ({
        ...{ secret: decodeURIComponent(secret), until: end },
      }))
    : [{ secret: text, until }];
};

/**
 * What becomes of the secrets of before where that of now, `sealed`, is replaced: it joins them, for
 * who was promised an overlap keeps it. Without an overlap none of them is good any more.
 */
export const rotated = (
  deps: RotationDeps,
  row: Rotated,
  { sealed, overlapMinutes }: { sealed: string | null; overlapMinutes: number },
): Pick<Rotated, 'old_secret_sealed' | 'old_secret_until'> => {
  const none = { old_secret_sealed: null, old_secret_until: null };
  if (overlapMinutes === 0) return none;
  const secret = sealed === null ? null : textIn(deps, row.id, sealed);
  const until = iso(deps.clock.now() + overlapMinutes * 60_000);
  const replaced = secret === null ? [] : [{ secret, until }];
  const kept = [...replaced, ...oldSecretsOf(deps, row)].slice(0, MOST);
  if (kept.length === 0) return none;
  return {
    old_secret_sealed: deps.sealSecret(row.id, joined(kept)),
    old_secret_until:
      kept
        .map(({ until: end }) => end)
        .sort()
        .at(-1) ?? null,
  };
};

const joined = (secrets: OldSecret[]): string =>
  secrets.map(({ secret, until }) => `${encodeURIComponent(secret)} ${until}`).join('\n');

const textIn = ({ openSecret }: OverlapDeps, id: string, sealed: string): string | null =>
  unlessShut(() => openSecret(id, sealed).take((bytes) => bytes.toString()));
