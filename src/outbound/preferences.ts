import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { NotificationSettingsRow } from '../store/tables/preferences.js';
import { visibleTo } from '../store/visible.js';
import { noticeKind } from './noticekinds.js';
import type { QuietHours } from './quiethours.js';

/** null: all channels without their own choice. */
export interface KindPreference {
  kind: string;
  channelId: string | null;
  enabled: boolean;
}

/** Do not affect what is stored in the app. */
export interface Preferences {
  choices: KindPreference[];
  quietHours: QuietHours & { enabled: boolean };
  /** Per window, `threshold` notifications of a kind are sent individually, the rest combined. */
  digest: { enabled: boolean; windowMinutes: number; threshold: number };
  /** Default lead time; null: no reminder. */
  tasks: { reminderMinutes: number | null };
}

export interface PreferenceParts extends Partial<Preferences> {
  /** Single choices; others are unchanged. */
  changes?: KindPreference[];
}

/** Default: every kind to all channels. */
export const isNonDefault = ({ channelId, enabled }: KindPreference): boolean =>
  channelId !== null || !enabled;

/**
 * Everything goes to all channels at once until the owner changes it. An enabled digest starts with
 * the first notification.
 */
const DEFAULTS: Omit<NotificationSettingsRow, 'user_id'> = {
  quiet: 0,
  timezone: 'UTC',
  quiet_from: '22:00',
  quiet_to: '07:00',
  digest: 0,
  window_minutes: 10,
  threshold: 0,
  reminder_minutes: 15,
};

const readSettings = async (
  { db }: Store,
  userId: string,
): Promise<Omit<NotificationSettingsRow, 'user_id'>> =>
  (await db
    .selectFrom('notification_settings')
    .selectAll()
    .where(visibleTo(userId))
    .executeTakeFirst()) ?? DEFAULTS;

export interface TaskPreferences {
  timezone: string;
  reminderMinutes: number | null;
}

export const readTaskPreferences = async (
  store: Store,
  userId: string,
): Promise<TaskPreferences> => {
  const { timezone, reminder_minutes: reminderMinutes } = await readSettings(store, userId);
  return { timezone, reminderMinutes };
};

export const readPreferences = async (store: Store, userId: string): Promise<Preferences> => {
  const [settings, choices] = await Promise.all([
    readSettings(store, userId),
    store.db
      .selectFrom('notification_choices')
      .select(['kind', 'channel_id', 'enabled'])
      .where(visibleTo(userId))
      .orderBy('kind')
      .orderBy('channel_id')
      .execute(),
  ]);
  const { quiet, timezone, quiet_from, quiet_to, digest, ...amounts } = settings;
  const { window_minutes: windowMinutes, threshold, reminder_minutes: reminderMinutes } = amounts;
  return {
    choices: choices.map(({ kind, channel_id: channelId, enabled }) => ({
      kind,
      channelId,
      enabled: enabled === 1,
    })),
    quietHours: { enabled: quiet === 1, timezone, from: quiet_from, to: quiet_to },
    digest: { enabled: digest === 1, windowMinutes, threshold },
    tasks: { reminderMinutes },
  };
};

/**
 * Each part separately, so that concurrent changes both stay. Open batches end now and are
 * evaluated again. Fails for duplicate choices and channels of other users.
 */
export const writePreferences = (
  store: Store,
  { userId, parts, at }: { userId: string; parts: PreferenceParts; at: string },
): Statement[] => {
  const { choices = [], changes = [] } = parts;
  const again = store.db
    .updateTable('notice_batches')
    .set({ closes_at: at })
    .where(visibleTo(userId));
  return [
    ...(parts.quietHours || parts.digest || parts.tasks ? [setSettings(store, userId, parts)] : []),
    ...(parts.choices
      ? [statement(store.db.deleteFrom('notification_choices').where(visibleTo(userId)))]
      : []),
    ...choices.map((choice) => insertChoice(store, userId, choice)),
    ...changes.flatMap((choice) => changeChoice(store, userId, choice)),
    statement(again),
  ];
};

const setSettings = (
  { db }: Store,
  user_id: string,
  { quietHours: hours, digest, tasks }: PreferenceParts,
): Statement => {
  const columns = {
    ...(hours && {
      quiet: hours.enabled ? 1 : 0,
      timezone: hours.timezone,
      quiet_from: hours.from,
      quiet_to: hours.to,
    }),
    ...(digest && {
      digest: digest.enabled ? 1 : 0,
      window_minutes: digest.windowMinutes,
      threshold: digest.threshold,
    }),
    ...(tasks && { reminder_minutes: tasks.reminderMinutes }),
  };
  const insert = db
    .insertInto('notification_settings')
    .values({ user_id, ...DEFAULTS, ...columns });
  return statement(
    insert.onConflict((on) => on.column('user_id').doUpdateSet(columns)),
    1,
  );
};

/** A choice for all channels replaces those for single channels. */
const changeChoice = (store: Store, userId: string, choice: KindPreference): Statement[] => {
  const { kind, channelId } = choice;
  const before = store.db
    .deleteFrom('notification_choices')
    .where(visibleTo(userId))
    .where('kind', '=', kind);
  const replaced = channelId === null ? before : before.where('channel_id', '=', channelId);
  return [
    statement(replaced),
    ...(isNonDefault(choice) ? [insertChoice(store, userId, choice)] : []),
  ];
};

const insertChoice = (
  { db }: Store,
  userId: string,
  { kind, channelId, enabled }: KindPreference,
): Statement => {
  const row = { user_id: userId, kind, channel_id: channelId, enabled: enabled ? 1 : 0 };
  const insert = db.insertInto('notification_choices');
  if (channelId === null) return statement(insert.values(row), 1);
  const own = db
    .selectFrom('channels')
    .select((of) => [of.val(kind).as('kind'), of.val(row.enabled).as('enabled')])
    .select(['user_id', 'id'])
    .where(visibleTo(userId))
    .where('id', '=', channelId);
  return statement(insert.columns(['kind', 'enabled', 'user_id', 'channel_id']).expression(own), 1);
};

/** The choice of the channel, else the choice for all channels. */
export const isKindEnabled = (
  choices: KindPreference[],
  kind: string,
  channelId: string,
): boolean => {
  if (noticeKind(kind).rank === 'security') return true;
  const ofKind = choices.filter((choice) => choice.kind === kind);
  const own = ofKind.find((choice) => choice.channelId === channelId);
  return (own ?? ofKind.find((choice) => choice.channelId === null))?.enabled ?? true;
};
