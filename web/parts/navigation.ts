import type { PagePlace } from '../../src/kernel/pagepath.js';

export interface Destination {
  name: PagePlace;
  label: string;
  within: readonly PagePlace[];
}

const entry = (name: PagePlace, label: string, ...within: PagePlace[]): Destination => ({
  name,
  label,
  within,
});

/** Places in the bar at the bottom of a phone. */
export const MAIN_PLACES: readonly Destination[] = [
  entry('home', 'Home'),
  entry('approvals', 'Approvals', 'approval'),
  entry('chats', 'Chat', 'chat'),
  entry('notifications', 'Notifications'),
];

/** Places behind `More` on a phone, and below the main ones on a wide screen. */
export const OTHER_PLACES: readonly Destination[] = [
  entry('executions', 'Executions', 'execution'),
  entry('agents', 'Agents', 'agent'),
  entry('tasks', 'Tasks', 'task'),
  entry('pipelines', 'Pipelines', 'run'),
  entry('recurringTasks', 'Recurring tasks', 'recurringTask'),
  entry('operations', 'Operations', 'operation'),
  entry('knowledge', 'Knowledge', 'source'),
  entry('mail', 'Mail', 'message'),
  entry('memories', 'Memories', 'memory'),
  entry('device', 'This device'),
];

export const isWithin = ({ name, within }: Destination, place: PagePlace | 'unknown'): boolean =>
  place === name || within.some((one) => one === place);
