import type { Client, NotificationPreferences, PreferenceChanges } from '../../src/client/index.js';
import { channelCrud } from '../channels/link.js';
import type { TableColumn } from '../columns.js';
import { command, type Flag, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';

type KindChoice = NotificationPreferences['kinds'][number];

const OFF = 'off';

/** `22:00-07:00`, or `off`; null stands for that. */
const hours: Flag<{ from: string; to: string } | null> = {
  value: '<from-to|off>',
  about: 'Hold what can wait: 22:00-07:00',
  read: (given) => {
    if (given === OFF) return null;
    const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(given) ?? [];
    if (from === undefined || to === undefined) {
      throw usageFault(`--quiet-hours are two times, as in 22:00-07:00, or off (got "${given}")`);
    }
    return { from, to };
  },
};

/** `10m`, `2h` or `off`; in minutes, null stands for off. */
const window: Flag<number | null> = {
  value: '<10m|2h|off>',
  about: 'Make one message of what comes of a kind within that time',
  read: (given) => {
    if (given === OFF) return null;
    const [, count, unit] = /^(\d{1,4})([mh])$/.exec(given) ?? [];
    if (count === undefined)
      throw usageFault(`--digest is a time: 10m, 2h, or off (got "${given}")`);
    return Number(count) * (unit === 'h' ? 60 : 1);
  },
};

const threshold: Flag<number> = {
  value: '<count>',
  about: 'So many of a kind are told one by one before',
  read: (given) => {
    if (!/^\d{1,4}$/.test(given)) throw usageFault(`--threshold is a number (got "${given}")`);
    return Number(given);
  },
};

const flags = {
  quietHours: hours,
  timezone: textFlag('<zone>', 'Of the quiet hours: Europe/Berlin'),
  digest: window,
  threshold,
  mute: textFlag('<kinds>', 'Kinds that no channel gets, or not the one of --channel'),
  unmute: textFlag('<kinds>', 'Kinds that go out again'),
  channel: textFlag('<channel>', 'The one that --mute and --unmute are about'),
};

export const notificationPreferences = command({
  name: 'preferences',
  args: '',
  calls: ['notifications preferences', 'notifications set-preferences'],
  summary: 'What goes to your channels, and when; with flags, change it',
  examples: [
    '',
    '--quiet-hours 22:00-07:00 --timezone Europe/Berlin',
    '--digest 10m --threshold 1',
    '--mute hook_failed --channel 4ew6rt',
    '--quiet-hours off --digest off',
  ],
  flags,
  notes: [
    'In the app everything stays. What a hook says with notifyOwner comes at once, whatever is set; ' +
      'so do approvals, and what is about the safety of your account.',
  ],
  seeAlso: 'adjutant channels list',
  run: async (context, { flags: given }) => {
    const client = await context.client();
    if (Object.keys(given).length === 0)
      return show(context, await client.notifications.preferences());
    const body = await changesOf(client, given);
    const changed = await client.notifications['set-preferences']({ body });
    show(context, changed);
  },
});

type PreferenceFlags = Parameters<typeof notificationPreferences.run>[1]['flags'];

/** Makes the request; what is turned neither on nor off stays as it is. */
const changesOf = async (client: Client, given: PreferenceFlags): Promise<PreferenceChanges> => {
  const { quietHours: hours, timezone, digest: minutes, threshold, mute, unmute } = given;
  refuseLost(given);
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
    ...((mute !== undefined || unmute !== undefined) && {
      kindChanges: await kindsOf(client, given),
    }),
  };
};

const refuseLost = ({ mute, unmute, channel }: PreferenceFlags): void => {
  if (channel === undefined || mute !== undefined || unmute !== undefined) return;
  throw usageFault('--channel says where --mute or --unmute hold: give one of them');
};

const kindsOf = async (
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

const columns: TableColumn<KindChoice>[] = [
  { name: 'kind', value: (one) => one.kind },
  {
    name: 'sends',
    value: (one) => (one.enabled ? 'yes' : 'muted'),
    isState: true,
  },
  {
    name: 'channel',
    value: (one) => one.channelId,
    show: (one) => one.channelId?.slice(-6) ?? 'all',
  },
  { name: 'about', value: (one) => one.about },
];

const show = ({ out }: Context, preferences: NotificationPreferences): void => {
  const { kinds, quietHours: quiet, digest } = preferences;
  out.page({ reply: preferences, rows: kinds, columns });
  const off = (name: string) => `${name} off`;
  out.note(
    quiet.enabled
      ? `Quiet hours ${quiet.from} to ${quiet.to}, ${quiet.timezone}`
      : off('Quiet hours'),
  );
  const first = digest.threshold > 0 ? ` after the first ${digest.threshold}` : '';
  out.note(digest.enabled ? `Digest of ${digest.windowMinutes} minutes${first}` : off('Digest'));
};
