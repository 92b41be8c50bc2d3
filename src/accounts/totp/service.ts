import { createHash } from 'node:crypto';
import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { unsealOrNull } from '../../kernel/envelope.js';
import { requireIncrementally } from '../../kernel/pieces.js';
import {
  matchTotp,
  newRecoveryCode,
  newTotpSecret,
  otpauthUrl,
  totpSkew,
} from '../../kernel/totp.js';
import type { Outbox } from '../../outbound/module.js';
import type { TotpRow } from '../../store/tables/accounts.js';
import type { AccountOperations } from '../auth/account.js';
import type { CodeHolder, CodeTries } from './attempts.js';
import type { Purpose, TotpStore } from './queries.js';

export interface CodeCheckDeps {
  factors: TotpStore;
  tries: CodeTries;
  clock: Clock;
  unseal(userId: string, sealed: string): string;
}

export interface TotpDeps extends CodeCheckDeps {
  outbox: Outbox;
  seal(userId: string, secret: string): string;
  accounts: AccountOperations;
}

const RECOVERY_CODES = 10;

/** At once the library takes 25 ms to load, and as much again to draw. */
const loadQrcode = requireIncrementally({
  library: 'qrcode',
  pieces: ['pngjs', 'qrcode/lib/core/qrcode.js', 'qrcode/lib/renderer/png.js'],
  load: () => import('qrcode'),
});

/** The secret has no effect until a code of it was verified. */
export const setUpTotp = async (
  deps: TotpDeps,
  by: Caller,
  password: string | undefined,
): Promise<{ secret: string; otpauthUrl: string; qrSvg: string }> => {
  await deps.accounts.proveFresh(by, password);
  const secret = await newTotpSecret();
  const sealed = deps.seal(by.userId, secret);
  if (!(await deps.factors.put(by.userId, sealed, iso(deps.clock.now())))) {
    throw Boom.conflict(
      'Two-factor authentication is already enabled. Disable two-factor authentication first',
      {
        code: 'totp_enabled',
      },
    );
  }
  const url = await otpauthUrl(secret, by.username);
  const qr = await loadQrcode();
  return { secret, otpauthUrl: url, qrSvg: await qr.toString(url, { type: 'svg' }) };
};

/** The recovery codes are stored as digests and shown only once. */
export const enableTotp = async (
  deps: TotpDeps,
  by: Caller & Recorder,
  code: string,
): Promise<{ recoveryCodes: string[] }> => {
  const factor = await deps.factors.find(by.userId);
  if (!factor)
    throw Boom.conflict('Two-factor authentication is not set up. Create a secret first', {
      code: 'totp_not_set_up',
    });
  if (factor.enabled_at !== null)
    throw Boom.conflict(
      'Two-factor authentication is already enabled. Disable two-factor authentication first',
      { code: 'totp_enabled' },
    );
  const recoveryCodes = newCodes();
  await guarded(deps, { by, factor, shownSkewOf: code }, async () => {
    const step = await match(deps, by.userId, factor, { code, purpose: 'enable' });
    const digests = recoveryCodes.map(computeDigest);
    const at = iso(deps.clock.now());
    if (step === null) return false;
    return deps.accounts.withinSession(by.sessionId, (holds) =>
      deps.factors.enable(by.userId, { step, digests, at }, [holds, by.record()]),
    );
  });
  return { recoveryCodes };
};

/** The owner is notified, since a recovery code lets in somebody who has the password. */
export const renewRecoveryCodes = async (
  deps: TotpDeps,
  by: Caller & Recorder,
  password: string | undefined,
): Promise<{ recoveryCodes: string[] }> => {
  await enabledFactor(deps, by.userId);
  await deps.accounts.proveFresh(by, password);
  const recoveryCodes = newCodes();
  const message = deps.outbox.toOwner(by.userId, {
    kind: 'recovery_codes.made',
    title: 'New recovery codes were created for your account',
    body: 'The previous codes are no longer valid. If this was not you, change your password and create new codes: adjutant auth totp recovery-codes',
    link: null,
  });
  const digests = recoveryCodes.map(computeDigest);
  const isDone = await deps.accounts.withinSession(by.sessionId, (holds) =>
    deps.factors.renewCodes(by.userId, digests, [holds, ...message.statements, by.record()]),
  );
  if (!isDone) throw notEnabled();
  message.published();
  return { recoveryCodes };
};

const newCodes = (): string[] => Array.from({ length: RECOVERY_CODES }, newRecoveryCode);

/** Throws 401 if the code is wrong or was already used for this purpose. */
export const verifyCode = async (deps: TotpDeps, by: Caller, code: string): Promise<void> => {
  const factor = await enabledFactor(deps, by.userId);
  const input: CodeInput = { code, purpose: 'enable' };
  await guarded(deps, { by, factor, shownSkewOf: code }, () =>
    judged(deps, inside(by), () => spend(deps, by.userId, factor, input)),
  );
};

export const disableTotp = async (
  deps: TotpDeps,
  by: Caller & Recorder,
  { password, code }: { password?: string; code: string },
): Promise<void> => {
  const factor = await enabledFactor(deps, by.userId);
  await deps.accounts.proveFresh(by, password);
  let hasRecovered = false;
  await guarded(deps, { by, factor }, async () => {
    hasRecovered = await spendRecoveryCode(deps, by.userId, code);
    if (hasRecovered) return true;
    const input: CodeInput = { code, purpose: 'disable' };
    return judged(deps, inside(by), () => spend(deps, by.userId, factor, input));
  });
  const note = hasRecovered ? { data: { recoveryCode: true } } : {};
  await deps.factors.remove(by.userId, [by.record(note)]);
};

export const checkLogin = async (
  deps: CodeCheckDeps,
  { userId, code, device }: { userId: string; code: string | undefined; device: string | null },
): Promise<'not_needed' | 'needed' | 'right' | 'recovered' | 'wrong' | 'damaged'> => {
  const factor = await deps.factors.find(userId);
  if (!factor || factor.enabled_at === null) return 'not_needed';
  if (code === undefined || code === '') return 'needed';
  // A recovery code cannot be guessed, so it is accepted even while codes are locked.
  if (await spendRecoveryCode(deps, userId, code)) return 'recovered';
  const name = device === null ? userId : `device ${device}`;
  const holder: CodeHolder = { userId, name, isLoggedIn: false };
  const input: CodeInput = { code, purpose: 'login' };
  if (await judged(deps, holder, () => spend(deps, userId, factor, input))) return 'right';
  return unsealTotpSecret(deps, userId, factor) === null ? 'damaged' : 'wrong';
};

interface CodeInput {
  code: string;
  purpose: Purpose;
}

const enabledFactor = async ({ factors }: TotpDeps, userId: string): Promise<TotpRow> => {
  const factor = await factors.find(userId);
  if (factor && factor.enabled_at !== null) return factor;
  throw notEnabled();
};

const notEnabled = (): Boom.Boom =>
  Boom.conflict(
    'Two-factor authentication is not enabled. Set up two-factor authentication first',
    {
      code: 'totp_not_enabled',
    },
  );

/** Returns null if the secret is damaged. Recovery codes remain valid then. */
const unsealTotpSecret = (
  { unseal }: CodeCheckDeps,
  userId: string,
  { sealed }: TotpRow,
): string | null => unsealOrNull(() => unseal(userId, sealed));

const match = async (
  deps: CodeCheckDeps,
  userId: string,
  factor: TotpRow,
  { code, purpose }: CodeInput,
): Promise<number | null> => {
  const secret = unsealTotpSecret(deps, userId, factor);
  if (secret === null) return null;
  return matchTotp(secret, code, {
    now: deps.clock.now(),
    after: factor[`${purpose}_step`],
  });
};

/** The statement decides, so that one of two concurrent uses wins. */
const spend = async (
  deps: CodeCheckDeps,
  userId: string,
  factor: TotpRow,
  input: CodeInput,
): Promise<boolean> => {
  const step = await match(deps, userId, factor, input);
  return step !== null && deps.factors.spend(userId, input.purpose, step);
};

/** Counts a code before it is checked, so that no more concurrent codes than the limit are checked. */
const judged = async (
  { tries }: CodeCheckDeps,
  holder: CodeHolder,
  isRight: () => Promise<boolean>,
): Promise<boolean> => {
  await tries.take(holder);
  if (!(await isRight())) {
    await tries.failed(holder);
    return false;
  }
  await tries.forget(holder);
  return true;
};

/** All login sessions of a user share one counter, which an unauthenticated client cannot fill. */
const inside = ({ userId }: Caller): CodeHolder => ({
  userId,
  name: `${userId} logged in`,
  isLoggedIn: true,
});

const spendRecoveryCode = (deps: CodeCheckDeps, userId: string, code: string): Promise<boolean> =>
  deps.factors.spendRecoveryCode(userId, computeDigest(code), iso(deps.clock.now()));

const computeDigest = (code: string): string =>
  createHash('sha256').update(spelledOut(code)).digest('hex');

/** Normalizes a recovery code, which may be typed with other dashes, blanks or capitals, or without. */
const spelledOut = (code: string): string => {
  const plain = code
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Pd}]/gu, '');
  return plain.match(/.{1,4}/gu)?.join('-') ?? '';
};

interface GuardedCode {
  by: Caller;
  factor: TotpRow;
  /** The code for whose clock skew the error message is specific. */
  shownSkewOf?: string;
}

/** Counts a wrong code like a wrong password. */
const guarded = async (
  deps: TotpDeps,
  { by, factor, shownSkewOf }: GuardedCode,
  isRight: () => Promise<boolean>,
): Promise<void> => {
  const attempt = { userId: by.userId, by };
  await deps.accounts.refuseFlood(attempt);
  if (await isRight()) return;
  await deps.accounts.addFailure(attempt);
  const secret = unsealTotpSecret(deps, by.userId, factor);
  if (secret === null) {
    const remedy = 'Disable two-factor authentication with a recovery code, and set it up again';
    throw Boom.conflict(`The secret of your authenticator app is damaged. ${remedy}`, {
      code: 'totp_damaged',
    });
  }
  const skew =
    shownSkewOf === undefined ? null : await totpSkew(secret, shownSkewOf, deps.clock.now());
  throw new Boom.Boom(wrongCode(skew), { statusCode: 401, data: { code: 'wrong_code' } });
};

/** A code of the last, current or next time step is wrong for another reason than the clock. */
const FITTING_SKEW_SECONDS = 30;

const wrongCode = (skewSeconds: number | null): string => {
  if (skewSeconds === null || Math.abs(skewSeconds) <= FITTING_SKEW_SECONDS) {
    return 'The code is wrong or was already used';
  }
  const off = `${Math.abs(skewSeconds)} s ${skewSeconds > 0 ? 'ahead of' : 'behind'}`;
  return `The code is from a clock that is ${off} this machine. Set the clock of the phone or of this machine`;
};
