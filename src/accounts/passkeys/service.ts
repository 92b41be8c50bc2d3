import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import { type PasskeyRow, passkeyTable } from '../../store/tables/accounts.js';
import { viewer } from '../../store/view.js';
import {
  findRelyingParty,
  keepChallenge,
  type PasskeyDeps,
  passkeyRefused,
  takeChallenge,
  toPasskeyCredential,
} from './challenges.js';
import { type Attestation, Passkey } from './contract.js';
import type { RelyingParty } from './rules.js';
import { creationOptions, type PasskeyCredential, verifyCreation } from './webauthn.js';

const MAX_PASSKEYS = 50;

/** Throws 403 `password_required` if the login is too old and there is no password. */
export const beginRegistration = async (
  deps: PasskeyDeps,
  password: string | undefined,
  by: Caller,
): Promise<{ options: Record<string, unknown> }> => {
  const relyingParty = findRelyingParty(deps, by);
  await deps.accounts.proveFresh(by, password);
  const known = await deps.passkeys.all(by.userId);
  if (known.length >= MAX_PASSKEYS)
    throw Boom.conflict(`You already have ${MAX_PASSKEYS} passkeys, the maximum. Delete one first`);
  const options = await creationOptions({
    relyingParty,
    user: { id: by.userId, name: by.username },
    known: known.filter((row) => row.relying_party === relyingParty.id).map(toPasskeyCredential),
  });
  await keepChallenge(deps, relyingParty, {
    // One registration at a time: the last one that began in the session.
    id: by.sessionId,
    purpose: 'register',
    user_id: by.userId,
    challenge: options.challenge,
  });
  return { options: { ...options } };
};

export const endRegistration = async (
  deps: PasskeyDeps,
  { response, name }: { response: Attestation; name: string | undefined },
  by: Caller & Recorder,
): Promise<{ passkey: Passkey }> => {
  const relyingParty = findRelyingParty(deps, by);
  const issued = await takeChallenge(deps, relyingParty, { id: by.sessionId, purpose: 'register' });
  const { challenge = '', user_id } = issued ?? {};
  const credential =
    user_id === by.userId && (await verifyCreation(response, { relyingParty, challenge }));
  if (!credential) throw passkeyRefused();
  const row = buildPasskeyRow(deps.clock.now(), { by, relyingParty, credential, name });
  const message = deps.outbox.toOwner(by.userId, {
    kind: 'passkey.added',
    title: `A passkey was added to your account: ${row.name}`,
    body: 'The passkey logs in without your password. If this was not you, delete it: adjutant auth passkeys list',
    link: '/api/auth/passkeys',
  });
  const { id, name: kept, relying_party: relyingPartyId } = row;
  const record = by.record({ target: id, data: { name: kept, relyingParty: relyingPartyId } });
  const isNew = await deps.accounts.withinSession(by.sessionId, (holds) =>
    deps.passkeys.insert(row, [holds, ...message.statements, record]),
  );
  if (!isNew) throw Boom.conflict('The passkey is already registered. Use another passkey');
  message.published();
  return { passkey: viewPasskey(deps, row) };
};

/** Throws 409 `last_way_in` if nobody could log in to the account without it. */
export const deletePasskey = async (
  deps: PasskeyDeps,
  id: string,
  by: Caller & Recorder,
): Promise<void> => {
  const works = deps.relyingParties().map((party) => party.id);
  const outcome = await deps.passkeys.delete({ userId: by.userId, id, works }, [by.record()]);
  if (outcome === 'missing') throw Boom.notFound('No passkey with that id');
  if (outcome === 'deleted') return;
  throw Boom.conflict(
    'This passkey is the only way to log in to your account. Set a password first',
    {
      code: 'last_way_in',
    },
  );
};

export const viewPasskey = ({ relyingParties }: PasskeyDeps, row: PasskeyRow): Passkey =>
  shown({ ...row, works: relyingParties().some(({ id }) => id === row.relying_party) });

const shown = viewer(passkeyTable, Passkey, {
  works: ({ works }: PasskeyRow & Pick<Passkey, 'works'>) => works,
});

const buildPasskeyRow = (
  now: number,
  of: {
    by: Caller;
    relyingParty: RelyingParty;
    credential: PasskeyCredential;
    name: string | undefined;
  },
): PasskeyRow => ({
  id: mint('passkey', now),
  user_id: of.by.userId,
  name: of.name ?? `Passkey of ${iso(now).slice(0, 10)}`,
  relying_party: of.relyingParty.id,
  credential_id: of.credential.id,
  public_key: of.credential.publicKey,
  counter: of.credential.counter,
  transports: JSON.stringify(of.credential.transports),
  created_at: iso(now),
  last_used_at: null,
});
