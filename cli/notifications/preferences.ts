import type { Client, NotificationPreferences, PreferenceChanges } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type Context, command, type Flag, textFlag } from '../command.js';
import { channelCrud } from '../commands/channels.js';
import { usageFault } from '../exit.js';

type KindChoice = NotificationPreferences['kinds'][number];

const OFF = 'off';

/** `22:00-07:00`, or `off`, which is null. */
const hours: Flag<{ from: string; to: string } | null> = {
  value: '<from-to|off>',
  about: 'Hours in which less urgent messages are delayed, such as 22:00-07:00, or off',
  read: (input) => {
    if (input === OFF) return null;
    const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(input) ?? [];
    if (from === undefined || to === undefined) {
      throw usageFault(
        `--quiet-hours must be two times, such as 22:00-07:00, or off (got "${input}")`,
      );
    }
    return { from, to };
  },
};

/** `10m`, `2h` or `off`. In minutes; null for off. */
const window: Flag<number | null> = {
  value: '<10m|2h|off>',
  about: 'Time window in which messages of one kind are combined, such as 10m or 2h, or off',
  read: (input) => {
    if (input === OFF) return null;
    const [, count, unit] = /^(\d{1,4})([mh])$/.exec(input) ?? [];
    if (count === undefined)
      throw usageFault(`--digest must be a time such as 10m or 2h, or off (got "${input}")`);
    return Number(count) * (unit === 'h' ? 60 : 1);
  },
};

/** `30m`, `2h`, `1d` or `off`. In minutes; null for off. */
const lead: Flag<number | null> = {
  value: '<30m|2h|off>',
  about: 'Default time between a reminder and the due time of the task, such as 30m, or off',
  read: (input) => {
    if (input === OFF) return null;
    const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(input) ?? [];
    if (count === undefined)
      throw usageFault(
        `--task-reminder must be a time such as 30m, 2h or 1d, or off (got "${input}")`,
      );
    return Number(count) * (unit === 'd' ? 1440 : unit === 'h' ? 60 : 1);
  },
};

const threshold: Flag<number> = {
  value: '<count>',
  about: 'Number of messages of one kind that are sent before further messages are combined',
  read: (input) => {
    if (!/^\d{1,4}$/.test(input))
      throw usageFault(`--threshold must be a whole number from 0 to 1000 (got "${input}")`);
    return Number(input);
  },
};

const flags = {
  quietHours: hours,
  timezone: textFlag('<zone>', 'Time zone of quiet hours and tasks, such as Europe/Berlin'),
  digest: window,
  threshold,
  taskReminder: lead,
  mute: textFlag(
    '<kinds>',
    'Kinds of notifications to mute, separated by commas. Without flags, the command lists the kinds',
  ),
  unmute: textFlag(
    '<kinds>',
    'Kinds of notifications to unmute, separated by commas. Without flags, the command lists the kinds',
  ),
  channel: textFlag('<channel>', 'Channel for --mute and --unmute. Defaults to all channels'),
};

export const notificationPreferences = command({
  name: 'preferences',
  args: '',
  calls: ['notifications preferences', 'notifications set-preferences'],
  summary: 'Show or change notification preferences',
  examples: [
    '',
    '--quiet-hours 22:00-07:00 --timezone Europe/Berlin',
    '--digest 10m --threshold 1',
    '--mute hook_failed --channel 4ew6rt',
    '--quiet-hours off --digest off',
    '--task-reminder 30m',
  ],
  flags,
  notes: [
    'Notifications in the app are not affected. Notices of hooks with notifyOwner, ' +
      'approvals and security notices are always sent at once.',
  ],
  seeAlso: 'adjutant channels list',
  run: async (context, { flags: input }) => {
    const client = await context.client();
    if (Object.keys(input).length === 0)
      return show(context, await client.notifications.preferences());
    const body = await buildPreferenceChanges(client, input);
    show(context, await client.notifications['set-preferences']({ body }));
  },
});

type PreferenceFlags = Parameters<typeof notificationPreferences.run>[1]['flags'];

/** Values that are not passed stay unchanged. */
const buildPreferenceChanges = async (
  client: Client,
  input: PreferenceFlags,
): Promise<PreferenceChanges> => {
  const { quietHours: hours, timezone, digest: minutes, threshold, mute, unmute } = input;
  const { taskReminder } = input;
  if (input.channel !== undefined && mute === undefined && unmute === undefined) {
    throw usageFault(
      '--channel selects the channel to mute or unmute. Add --mute or --unmute with the kinds of notifications',
    );
  }
  const { quietHours, digest } = await client.notifications.preferences();
  const isOn = (typed: object | number | null | undefined, before: { enabled: boolean }) =>
    typed === undefined ? before.enabled : typed !== null;
  return {
    ...((hours !== undefined || timezone !== undefined) && {
      quietHours: { enabled: isOn(hours, quietHours), ...hours, timezone },
    }),
    ...((minutes !== undefined || threshold !== undefined) && {
      digest: { enabled: isOn(minutes, digest), windowMinutes: minutes ?? undefined, threshold },
    }),
    ...(taskReminder !== undefined && { tasks: { reminderMinutes: taskReminder } }),
    ...((mute !== undefined || unmute !== undefined) && {
      kindChanges: await listKindChoices(client, input),
    }),
  };
};

const listKindChoices = async (
  client: Client,
  { mute = '', unmute = '', channel }: PreferenceFlags,
): Promise<Omit<KindChoice, 'about'>[]> => {
  const at = channel === undefined ? null : await channelCrud.id(client, channel);
  const listed = (typed: string, enabled: boolean) =>
    typed
      .split(',')
      .filter((kind) => kind !== '')
      .map((kind) => ({ kind, channelId: at, enabled }));
  return [...listed(mute, false), ...listed(unmute, true)];
};

const columns = buildColumns<KindChoice>(
  ['kind'],
  { name: 'sends', value: ({ enabled }) => (enabled ? 'yes' : 'muted'), isState: true },
  {
    name: 'channel',
    value: ({ channelId }) => channelId,
    show: ({ channelId }) => channelId?.slice(-6) ?? 'all',
  },
  ['about'],
);

const show = ({ out }: Context, preferences: NotificationPreferences): void => {
  const { kinds, quietHours: quiet, digest, tasks } = preferences;
  out.page({ reply: preferences, rows: kinds, columns });
  const hours = quiet.enabled ? `${quiet.from} to ${quiet.to}, ${quiet.timezone}` : OFF;
  out.note(`Quiet hours ${hours}`);
  const first = digest.threshold > 0 ? ` after the first ${digest.threshold}` : '';
  out.note(digest.enabled ? `Digest of ${digest.windowMinutes} minutes${first}` : 'Digest off');
  const before = tasks.reminderMinutes;
  out.note(
    before === null ? 'No task reminders' : `Task reminders ${before} minutes before the due time`,
  );
};
