/**
 * - `plain`: as the owner prefers.
 * - `urgent`: never delayed, but can be muted. An approval read too late is a denial.
 * - `security`: never delayed or muted. An attacker would mute the notifications about the
 *   takeover.
 * - `direct`: requested with `notifyOwner`, so no preference applies.
 * - `app`: about the channels themselves, so it is sent to none.
 */
type NoticeRank = 'plain' | 'urgent' | 'security' | 'direct' | 'app';

export interface NoticeKindEntry {
  rank: NoticeRank;
  /** Singular and plural in a digest: `100 hook failures`. */
  names: readonly [string, string];
  /** Shown in docs/notifications.md and the CLI. */
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

export const KINDS = {
  approval_requested: urgent('approval', 'An agent call is waiting for your approval'),
  hook_notice: plain(
    'hook message',
    'Message from a hook with the action `notify`',
    'hook messages',
  ),
  hook_failed: plain('hook failure', 'A hook execution failed'),
  hook_interrupted: plain(
    'interrupted run',
    'The daemon stopped while a hook was running a tool. The tool call is not retried automatically',
  ),
  hook_exhausted: plain('exhausted hook', 'A hook reached its execution limit and was disabled'),
  hook_full: plain(
    'hook with a full backlog',
    'The backlog of a hook is full, so its senders get 429. Sent at most once per hour',
  ),
  hook_loop: plain(
    'stopped loop',
    'A hook did not run because its trigger had passed through this daemon ten times',
  ),
  agent_completed: direct(
    'finished agent',
    'An agent of a hook with `notifyOwner` finished. Contains its result',
  ),
  agent_failed: direct('failed agent', 'An agent of a hook with `notifyOwner` failed'),
  agent_notice: plain(
    'agent message',
    'Message from an agent, sent with the tool `notify.send`',
    'agent messages',
  ),
  recurring_notice: plain(
    'recurring task message',
    'Message from a recurring task with the action `notify`',
    'recurring task messages',
  ),
  recurring_failed: plain(
    'failed recurring task',
    'A run of a recurring task failed. Sent once until a run succeeds',
  ),
  research_completed: plain(
    'finished research job',
    'A research job finished. Contains the headline of the report',
    'finished research jobs',
  ),
  research_failed: plain(
    'failed research job',
    'A research job failed because no source could be read',
    'failed research jobs',
  ),
  task_reminder: plain(
    'task reminder',
    'A task is due soon. Late reminders are combined into one notification',
    'task reminders',
  ),
  pipeline_waiting: urgent(
    'waiting stage',
    'A pipeline stage is waiting for your approval or input',
    'waiting stages',
  ),
  pipeline_completed: plain('finished pipeline', 'A pipeline run completed'),
  pipeline_failed: plain('failed pipeline', 'A pipeline run failed'),
  mail_needs_login: plain(
    'mail account that needs a new login',
    'A server rejects the credential of a mail account. Sent once until the login works again',
    'mail accounts that need a new login',
  ),
  mail_failed: plain(
    'undelivered e-mail',
    'An e-mail that you sent was rejected, bounced, or not accepted within a day. Contains the server reply',
    'undelivered e-mails',
  ),
  mail_unknown: plain(
    'e-mail with unknown status',
    'It is unknown whether an e-mail was sent. It is not resent automatically',
    'e-mails with unknown status',
  ),
  credential_expiring: plain('expiring credential', 'A credential expires in a week or in a day'),
  credential_expired: plain('expired credential', 'A credential has expired and is no longer used'),
  credential_rotation_due: plain(
    'credential due for rotation',
    'A credential is due for rotation',
    'credentials due for rotation',
  ),
  webhook_disabled: plain('disabled webhook', 'An outgoing webhook was disabled automatically'),
  backup_failed: plain('failed backup', 'A backup failed or was not completed'),
  restored: app(
    'restored copy',
    'The daemon is running from a restored backup. Quarantined work is waiting for your decision',
    'restored copies',
  ),
  'channel.linked': security('linked channel', 'A channel was linked to your account'),
  'password.changed': security('changed password', 'Your password was changed'),
  'password.reset': security('reset password', 'Your password was reset with a link from an admin'),
  'passkey.added': security('added passkey', 'A passkey was added to your account'),
  'login.device': security(
    'login from a new device',
    'Your account was used to log in from a new device',
    'logins from new devices',
  ),
  'login.failures': security(
    'burst of failed logins',
    'Many logins to your account failed within an hour',
    'bursts of failed logins',
  ),
  'login.codes': security(
    'series of wrong codes',
    'Somebody knows your password and is guessing codes of your authenticator app',
    'series of wrong codes',
  ),
  'token.created': security('new token', 'A personal access token was created'),
  'factor.removed': security(
    'removed second factor',
    'An admin removed your authenticator app or one of your passkeys',
  ),
  'org.membership': security(
    'changed membership in an organization',
    'You were added to or removed from an organization, or your role in it was changed',
    'changed memberships in organizations',
  ),
  'org.created': plain(
    'organization that waits for approval',
    'An organization was created and waits for the approval of an admin of the installation. Sent to these admins',
    'organizations that wait for approval',
  ),
  'recovery_codes.made': security(
    'new set of recovery codes',
    'New recovery codes were created for your account. The previous codes are no longer valid',
    'new sets of recovery codes',
  ),
  'impersonation.begun': security(
    'impersonation',
    'An admin is acting as you, for at most one hour',
  ),
  delivery_failed: app(
    'failed delivery',
    'A message to a channel or an outgoing webhook, or a reply of a hook, was not delivered',
    'failed deliveries',
  ),
  delivery_unknown: app(
    'delivery with unknown status',
    'It is unknown whether a message reached a channel, or a reply of a hook its platform',
  ),
};

export type NoticeKind = keyof typeof KINDS;

export const isKind = (name: string): name is NoticeKind => Object.hasOwn(KINDS, name);

export const isConfigurable = (name: string): boolean =>
  ['plain', 'urgent'].includes(noticeKind(name).rank);

export const isNeverDelayed = (name: string): boolean =>
  ['urgent', 'security'].includes(noticeKind(name).rank);

/** Also for kinds of earlier versions. */
export const noticeKind = (name: string): NoticeKindEntry => (isKind(name) ? KINDS[name] : UNKNOWN);

const UNKNOWN = plain('other message', '');
