import type { FieldFault } from '../../kernel/problem.js';
import { normalizeTimezone, parseTimezone } from '../../kernel/timezone.js';
import { isConfigurable, isKind, KINDS, noticeKind } from '../noticekinds.js';
import { isNonDefault, type PreferenceParts, type Preferences } from '../preferences.js';
import type { GivenChoice, NotificationPreferences, PreferenceChanges } from './contract.js';

export const preferenceFaults = (
  { kinds = [], kindChanges = [], quietHours }: PreferenceChanges,
  known: { channelIds: string[]; hours: Preferences['quietHours'] },
): FieldFault[] => [
  ...choicesFaults(kinds, 'kinds', known.channelIds),
  ...choicesFaults(kindChanges, 'kindChanges', known.channelIds),
  ...(quietHours ? quietHoursFaults({ ...known.hours, ...quietHours }) : []),
];

const choicesFaults = (
  choices: GivenChoice[],
  path: string,
  channelIds: string[],
): FieldFault[] => [
  ...choices.flatMap((choice, at) => choiceFaults(choice, `${path}.${at}`, channelIds)),
  ...repeats(choices, path),
];

const choiceFaults = (
  { kind, channelId }: GivenChoice,
  path: string,
  channelIds: string[],
): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (!isKind(kind)) {
    const message = `must be one of: ${CHOSEN.join(', ')}`;
    faults.push({ path: `${path}.kind`, message });
  } else if (!isConfigurable(kind)) {
    faults.push({ path: `${path}.kind`, message: notConfigurableReason(kind) });
  }
  if (channelId !== null && !channelIds.includes(channelId)) {
    faults.push({ path: `${path}.channelId`, message: 'does not match any of your channels' });
  }
  return faults;
};

const CHOSEN = Object.keys(KINDS).filter(isConfigurable);

const notConfigurableReason = (kind: string): string => {
  const { rank } = noticeKind(kind);
  if (rank === 'app') return 'is only shown in the app';
  return rank === 'direct'
    ? 'is requested by a hook with notifyOwner and cannot be muted'
    : 'concerns the security of your account and cannot be muted';
};

const repeats = (choices: GivenChoice[], path: string): FieldFault[] => {
  const named = choices.map(({ kind, channelId }) => `${kind} ${channelId}`);
  return named.flatMap((name, at) =>
    named.indexOf(name) === at ? [] : [{ path: `${path}.${at}`, message: 'is a duplicate' }],
  );
};

const quietHoursFaults = (hours: Preferences['quietHours']): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (parseTimezone(hours.timezone) === null) {
    const message = 'must be a time zone, as in "Europe/Berlin"';
    faults.push({ path: 'quietHours.timezone', message });
  }
  if (hours.from === hours.to) {
    faults.push({ path: 'quietHours.to', message: 'must differ from `from`' });
  }
  return faults;
};

export const changed = (
  before: Preferences,
  { kinds, kindChanges, quietHours, digest, tasks }: PreferenceChanges,
): PreferenceParts => ({
  ...(kinds && { choices: kinds.filter(isNonDefault) }),
  ...(kindChanges && { changes: kindChanges }),
  ...(quietHours && { quietHours: withZone({ ...before.quietHours, ...quietHours }) }),
  ...(digest && { digest: { ...before.digest, ...digest } }),
  ...(tasks && { tasks }),
});

const withZone = <T extends { timezone: string }>(hours: T): T => ({
  ...hours,
  timezone: normalizeTimezone(hours.timezone),
});

export const viewPreferences = ({ choices, ...rest }: Preferences): NotificationPreferences => ({
  kinds: CHOSEN.flatMap((kind) => {
    const ofKind = choices.filter((choice) => choice.kind === kind);
    const general = ofKind.find(({ channelId }) => channelId === null);
    const own = ofKind.filter((choice) => choice !== general);
    const { about } = noticeKind(kind);
    const all = [general ?? { kind, channelId: null, enabled: true }, ...own];
    return all.map((choice) => ({ ...choice, about }));
  }),
  ...rest,
});
