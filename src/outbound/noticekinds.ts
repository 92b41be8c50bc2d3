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
type NoticeRank = 'plain' | 'urgent' | 'security' | 'direct' | 'app';

export interface NoticeKindEntry {
  rank: NoticeRank;
  /** The singular and the plural name in a digest: `100 hook failures`. */
  names: readonly [string, string];
  /** One line for the README and the command line. */
  about: string;
}

const ranked =
  (rank: NoticeRank) =>
  (one: string, about: string, many = `${one}s`): NoticeKindEntry => ({
    rank,
    names: [one, many],
    about,
  });
const plain = ranked('plain');
const urgent = ranked('urgent');
const security = ranked('security');
const direct = ranked('direct');
const app = ranked('app');

/** All kinds of notifications, each with its name in the singular, what it tells, and its plural. */
export const KINDS = {
  approval_requested: urgent('approval', 'A call of an agent waits for your approval'),
  hook_notice: plain(
    'message of a hook',
    'What a hook with the action `notify` says',
    'messages of hooks',
  ),
  hook_failed: plain('hook failure', 'A run of a hook ended in an error'),
  hook_interrupted: plain(
    'interrupted run',
    'The daemon stopped while the tool of a hook ran; it is not run again by itself',
  ),
  hook_exhausted: plain('exhausted hook', 'A hook has run as often as it may and is disabled'),
  hook_full: plain(
    'full hook',
    'So many runs of a hook wait that its senders get 429; told once an hour',
  ),
  hook_loop: plain(
    'broken loop',
    'What fired a hook had come back to this daemon ten times; the hook did not run',
  ),
  agent_completed: direct('finished agent', 'What an agent of a hook with `notifyOwner` came to'),
  agent_failed: direct('failed agent', 'An agent of a hook with `notifyOwner` failed'),
  agent_notice: plain(
    'message of an agent',
    'What an agent says with the tool `notify.send`',
    'messages of agents',
  ),
  recurring_notice: plain(
    'message of a recurring task',
    'What a recurring task with the action `notify` says',
    'messages of recurring tasks',
  ),
  recurring_failed: plain(
    'failed recurring task',
    'A run of a recurring task failed; told once until a run succeeds',
  ),
  research_completed: plain(
    'finished research',
    'The headline of a question that was researched',
    'finished pieces of research',
  ),
  research_failed: plain(
    'failed research',
    'A question was researched and nothing could be read',
    'failed pieces of research',
  ),
  task_reminder: plain(
    'reminder of a task',
    'A task is due soon; those that are late come as one',
    'reminders of tasks',
  ),
  pipeline_waiting: urgent(
    'stage that waits',
    'A stage of a pipeline waits for your approval or your input',
    'stages that wait',
  ),
  pipeline_completed: plain('finished pipeline', 'A run of a pipeline has completed'),
  pipeline_failed: plain('failed pipeline', 'A run of a pipeline has failed'),
  mail_needs_login: plain(
    'mail account that needs a login',
    'A server refuses the credential of a mail account; told once until it works again',
    'mail accounts that need a login',
  ),
  mail_failed: plain(
    'e-mail that did not arrive',
    'An e-mail that you sent was refused, came back, or was given up after a day; with the words of the server',
    'e-mails that did not arrive',
  ),
  mail_unknown: plain(
    'e-mail whose answer was lost',
    'Whether an e-mail was sent is not known; it is not sent again by itself',
    'e-mails whose answers were lost',
  ),
  credential_expiring: plain('expiring credential', 'A credential expires in a week, or in a day'),
  credential_expired: plain('expired credential', 'A credential has expired and is used no more'),
  credential_rotation_due: plain(
    'credential to rotate',
    'A credential is due for a new value',
    'credentials to rotate',
  ),
  webhook_disabled: plain('disabled webhook', 'An outgoing webhook was given up and is disabled'),
  backup_failed: plain('failed backup', 'A backup was not made or not finished'),
  restored: app(
    'restored copy',
    'The daemon goes on as a copy of itself: what it held back waits for you',
    'restored copies',
  ),
  'channel.linked': security('linked channel', 'A channel was linked to your account'),
  'password.changed': security('changed password', 'Your password was changed'),
  'password.reset': security('reset password', 'Your password was set anew by a link of an admin'),
  'passkey.added': security('added passkey', 'A passkey was added to your account'),
  'login.device': security(
    'login from a new device',
    'A login from a new device',
    'logins from new devices',
  ),
  'login.failures': security(
    'burst of wrong logins',
    'Many wrong logins to your account within an hour',
    'bursts of wrong logins',
  ),
  'login.codes': security(
    'series of wrong codes',
    'Somebody has your password and guesses codes of your authenticator app',
    'series of wrong codes',
  ),
  'token.created': security('new token', 'A personal access token was made'),
  'factor.removed': security(
    'removed second factor',
    'An admin removed your authenticator app or a passkey of yours',
  ),
  'recovery_codes.made': security(
    'new set of recovery codes',
    'New recovery codes were made for your account; the ones before serve no more',
    'new sets of recovery codes',
  ),
  'impersonation.begun': security('impersonation', 'An admin acts as you, for an hour at most'),
  delivery_failed: app(
    'failed delivery',
    'A channel or an outgoing webhook did not take a message',
    'failed deliveries',
  ),
  delivery_unknown: app('lost answer', 'Whether a message arrived at a channel is not known'),
};

export type NoticeKind = keyof typeof KINDS;

export const isKind = (name: string): name is NoticeKind => Object.hasOwn(KINDS, name);

/** True if the owner may choose where the kind goes. */
export const isChosen = (name: string): boolean =>
  ['plain', 'urgent'].includes(noticeKind(name).rank);

/** True if the kind is never delayed. */
export const isPressing = (name: string): boolean =>
  ['urgent', 'security'].includes(noticeKind(name).rank);

/** Returns the entry of a kind, also of one that only an earlier version knew. */
export const noticeKind = (name: string): NoticeKindEntry => (isKind(name) ? KINDS[name] : UNKNOWN);

const UNKNOWN = plain('other message', '');
