import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { NotificationSettingsRow } from '../store/tables/preferences.js';
import { noticeKind } from './noticekinds.js';
import type { QuietHours } from './quiethours.js';

/** A choice if a kind goes to a channel; null: to every channel without a choice of its own. */
export interface KindPreference {
  kind: string;
  channelId: string | null;
  isEnabled: boolean;
}

/**
 * The settings of digests: within a window, `threshold` notifications of one kind are sent singly,
 * the rest as one message.
 */
export interface Digest {
  windowMinutes: number;
  threshold: number;
}

/** A user's preferences for channels. They do not affect what is stored in the app. */
export interface Preferences {
  choices: KindPreference[];
  quiet: QuietHours & { isEnabled: boolean };
  digest: Digest & { isEnabled: boolean };
}

/** The parts of the preferences that a change sets. */
export interface PreferenceParts extends Partial<Preferences> {
  /** Single choices to change; all others stay. */
  changes?: KindPreference[];
}

/** True if a choice differs from the default, which sends a kind to all channels. */
export const saysSomething = ({ channelId, isEnabled }: KindPreference): boolean =>
  channelId !== null || !isEnabled;

/**
 * The default preferences. Ours: everything goes to all channels at once until its owner changes
 * that. A digest that is enabled without further settings gathers from the first notification on,
 * so that a hundred of a kind are one message.
 */
const DEFAULTS: Omit<Preferences, 'choices'> = {
  quiet: { isEnabled: false, from: '22:00', to: '07:00', timezone: 'UTC' },
  digest: { isEnabled: false, windowMinutes: 10, threshold: 0 },
};

export const readPreferences = async ({ db }: Store, userId: string): Promise<Preferences> => {
  const [settings, choices] = await Promise.all([
    db
      .selectFrom('notification_settings')
      .selectAll()
      .where('user_id', '=', userId)
      .executeTakeFirst(),
    db
      .selectFrom('notification_choices')
      .select(['kind', 'channel_id', 'enabled'])
      .where('user_id', '=', userId)
      .orderBy('kind')
      .orderBy('channel_id')
      .execute(),
  ]);
  return {
    choices: choices.map(({ kind, channel_id, enabled }) => ({
      ...{ kind, channelId: channel_id, isEnabled: enabled === 1 },
    })),
    ...(settings ? preferencesOf(settings) : DEFAULTS),
  };
};

const preferencesOf = (row: NotificationSettingsRow): Omit<Preferences, 'choices'> => ({
  quiet: {
    ...{ isEnabled: row.quiet === 1, timezone: row.timezone },
    ...{ from: row.quiet_from, to: row.quiet_to },
  },
  digest: {
    ...{ isEnabled: row.digest === 1 },
    ...{ windowMinutes: row.window_minutes, threshold: row.threshold },
  },
});

/**
 * Builds the statements that replace the given parts, each on its own, so that two simultaneous
 * changes both stay. Open batches end now, so that held notifications are judged again. Each choice
 * must be for another kind and channel, and its channel must be the user's, or nothing is written.
 */
export const writePreferences = (
  store: Store,
  { userId, parts, at }: { userId: string; parts: PreferenceParts; at: string },
): Statement[] => {
  const { choices, changes = [], quiet, digest } = parts;
  const again = store.db
    .updateTable('notice_batches')
    .set({ closes_at: at })
    .where('user_id', '=', userId);
  return [
    ...(quiet || digest ? [setSettings(store, userId, parts)] : []),
    ...(choices ? setChoices(store, userId, choices) : []),
    ...changes.flatMap((choice) => changeChoice(store, userId, choice)),
    statement(again),
  ];
};

const setSettings = (
  { db }: Store,
  userId: string,
  { quiet, digest }: Partial<Preferences>,
): Statement => {
  const given = { ...(quiet && hoursOf(quiet)), ...(digest && gatheringOf(digest)) };
  const unset = { ...hoursOf(DEFAULTS.quiet), ...gatheringOf(DEFAULTS.digest) };
  const insert = db
    .insertInto('notification_settings')
    .values({ user_id: userId, ...unset, ...given });
  return statement(
    insert.onConflict((on) => on.column('user_id').doUpdateSet(given)),
    1,
  );
};

const setChoices = (store: Store, userId: string, choices: KindPreference[]): Statement[] => [
  statement(store.db.deleteFrom('notification_choices').where('user_id', '=', userId)),
  ...choices.map((choice) => insertChoice(store, userId, choice)),
];

/**
 * Builds the statements for one choice. A choice for all channels replaces those for single
 * channels.
 */
const changeChoice = (store: Store, userId: string, choice: KindPreference): Statement[] => {
  const { kind, channelId } = choice;
  const before = store.db
    .deleteFrom('notification_choices')
    .where('user_id', '=', userId)
    .where('kind', '=', kind);
  const replaced = channelId === null ? before : before.where('channel_id', '=', channelId);
  return [
    statement(replaced),
    ...(saysSomething(choice) ? [insertChoice(store, userId, choice)] : []),
  ];
};

const hoursOf = ({ isEnabled, from, to, timezone }: Preferences['quiet']) => ({
  ...{ quiet: isEnabled ? 1 : 0, timezone, quiet_from: from, quiet_to: to },
});

const gatheringOf = ({ isEnabled, windowMinutes, threshold }: Preferences['digest']) => ({
  ...{ digest: isEnabled ? 1 : 0, window_minutes: windowMinutes, threshold },
});

const insertChoice = (
  { db }: Store,
  userId: string,
  { kind, channelId, isEnabled }: KindPreference,
): Statement => {
  const row = { user_id: userId, kind, channel_id: channelId, enabled: isEnabled ? 1 : 0 };
  const insert = db.insertInto('notification_choices');
  if (channelId === null) return statement(insert.values(row), 1);
  const own = db
    .selectFrom('channels')
    .select((of) => [of.val(kind).as('kind'), of.val(row.enabled).as('enabled')])
    .select(['user_id', 'id'])
    .where('user_id', '=', userId)
    .where('id', '=', channelId);
  return statement(insert.columns(['kind', 'enabled', 'user_id', 'channel_id']).expression(own), 1);
};

/**
 * Returns true if notifications of the kind go to the channel: by the channel's own choice,
 * otherwise by that for all channels.
 */
export const isWanted = (choices: KindPreference[], kind: string, channelId: string): boolean => {
  if (noticeKind(kind).rank === 'security') return true;
  const ofKind = choices.filter((choice) => choice.kind === kind);
  const own = ofKind.find((choice) => choice.channelId === channelId);
  return (own ?? ofKind.find((choice) => choice.channelId === null))?.isEnabled ?? true;
};
