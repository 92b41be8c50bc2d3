/**
 * The treatment of a kind of notification on its way to the channels:
 * - `plain`: as its owner prefers.
 * - `urgent`: it is never delayed, but may be muted. Ours: an approval that is read too late is a
 *   denial, and one requested in a conversation waits 15 minutes.
 * - `security`: it is never delayed and never muted. Ours: an attacker takes over an account at
 *   night, and would mute the notifications about it.
 * - `direct`: requested with `notifyOwner`, so that no preference applies.
 * - `app`: it is about the channels themselves and goes to none of them.
 */
type Rank = 'plain' | 'urgent' | 'security' | 'direct' | 'app';

export interface NoticeKindEntry {
  rank: Rank;
  /** The singular and the plural name in a digest: `100 hook failures`. */
  names: readonly [string, string];
  /** One line for the README and the command line. */
  about: string;
}

/** All kinds of notifications. */
export const KINDS = {
  approval_requested: {
    rank: 'urgent',
    names: ['approval', 'approvals'],
    about: 'A call of an agent waits for your word',
  },
  hook_notice: {
    rank: 'plain',
    names: ['message of a hook', 'messages of hooks'],
    about: 'What a hook with the action `notify` says',
  },
  hook_failed: {
    rank: 'plain',
    names: ['hook failure', 'hook failures'],
    about: 'A run of a hook ended in an error',
  },
  hook_interrupted: {
    rank: 'plain',
    names: ['interrupted run', 'interrupted runs'],
    about: 'The daemon stopped while the tool of a hook ran; it is not run again by itself',
  },
  hook_exhausted: {
    rank: 'plain',
    names: ['exhausted hook', 'exhausted hooks'],
    about: 'A hook has run as often as it may and is disabled',
  },
  hook_loop: {
    rank: 'plain',
    names: ['broken loop', 'broken loops'],
    about: 'What fired a hook had come back to this daemon ten times; the hook did not run',
  },
  agent_completed: {
    rank: 'direct',
    names: ['finished agent', 'finished agents'],
    about: 'What an agent of a hook with `notifyOwner` came to',
  },
  agent_failed: {
    rank: 'direct',
    names: ['failed agent', 'failed agents'],
    about: 'An agent of a hook with `notifyOwner` failed',
  },
  agent_notice: {
    rank: 'plain',
    names: ['message of an agent', 'messages of agents'],
    about: 'What an agent says with the tool `notify.send`',
  },
  credential_expiring: {
    rank: 'plain',
    names: ['expiring credential', 'expiring credentials'],
    about: 'A credential expires in a week, or in a day',
  },
  credential_expired: {
    rank: 'plain',
    names: ['expired credential', 'expired credentials'],
    about: 'A credential has expired and is used no more',
  },
  credential_rotation_due: {
    rank: 'plain',
    names: ['credential to rotate', 'credentials to rotate'],
    about: 'A credential is due for a new value',
  },
  webhook_disabled: {
    rank: 'plain',
    names: ['disabled webhook', 'disabled webhooks'],
    about: 'An outgoing webhook was given up and is disabled',
  },
  backup_failed: {
    rank: 'plain',
    names: ['failed backup', 'failed backups'],
    about: 'A backup was not made or not finished',
  },
  restored: {
    rank: 'app',
    names: ['restored copy', 'restored copies'],
    about: 'The daemon goes on as a copy of itself: what it held back waits for you',
  },
  'channel.linked': {
    rank: 'security',
    names: ['linked channel', 'linked channels'],
    about: 'A channel was linked to your account',
  },
  'password.changed': {
    rank: 'security',
    names: ['changed password', 'changed passwords'],
    about: 'Your password was changed',
  },
  'password.reset': {
    rank: 'security',
    names: ['reset password', 'reset passwords'],
    about: 'Your password was set anew by a link of an admin',
  },
  'passkey.added': {
    rank: 'security',
    names: ['added passkey', 'added passkeys'],
    about: 'A passkey was added to your account',
  },
  'login.device': {
    rank: 'security',
    names: ['login from a new device', 'logins from new devices'],
    about: 'A login from a new device',
  },
  'login.failures': {
    rank: 'security',
    names: ['burst of wrong logins', 'bursts of wrong logins'],
    about: 'Many wrong logins to your account within an hour',
  },
  'login.codes': {
    rank: 'security',
    names: ['series of wrong codes', 'series of wrong codes'],
    about: 'Somebody has your password and guesses codes of your authenticator app',
  },
  'token.created': {
    rank: 'security',
    names: ['new token', 'new tokens'],
    about: 'A personal access token was made',
  },
  'factor.removed': {
    rank: 'security',
    names: ['removed second factor', 'removed second factors'],
    about: 'An admin removed your authenticator app or a passkey of yours',
  },
  'recovery_codes.made': {
    rank: 'security',
    names: ['new set of recovery codes', 'new sets of recovery codes'],
    about: 'New recovery codes were made for your account; the ones before serve no more',
  },
  'impersonation.begun': {
    rank: 'security',
    names: ['impersonation', 'impersonations'],
    about: 'An admin acts as you, for an hour at most',
  },
  delivery_failed: {
    rank: 'app',
    names: ['failed delivery', 'failed deliveries'],
    about: 'A channel or an outgoing webhook did not take a message',
  },
  delivery_unknown: {
    rank: 'app',
    names: ['lost answer', 'lost answers'],
    about: 'Whether a message arrived at a channel is not known',
  },
} as const satisfies Record<string, NoticeKindEntry>;

export type NoticeKind = keyof typeof KINDS;

export const isKind = (name: string): name is NoticeKind => Object.hasOwn(KINDS, name);

/** True if the owner may choose where the kind goes. */
export const isChosen = (name: string): boolean =>
  ['plain', 'urgent'].includes(noticeKind(name).rank);

/** Returns the entry of a kind, also of one that only an earlier version knew. */
export const noticeKind = (name: string): NoticeKindEntry => (isKind(name) ? KINDS[name] : UNKNOWN);

const UNKNOWN: NoticeKindEntry = {
  rank: 'plain',
  names: ['other message', 'other messages'],
  about: '',
};
