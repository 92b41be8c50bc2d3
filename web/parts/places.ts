import type { PagePlace } from '../../src/kernel/pagepath.js';

/** An entry of the navigation: the list, its label, and the views that belong to it. */
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

/** Places that a phone has room for at the bottom of its screen. */
export const MAIN_PLACES: readonly Destination[] = [
  entry('home', 'Home'),
  entry('approvals', 'Approvals', 'approval'),
  entry('chats', 'Chat', 'chat'),
  entry('notifications', 'Notifications'),
];

/** Places that a phone has behind `More`, and a wide screen below the main ones. */
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
