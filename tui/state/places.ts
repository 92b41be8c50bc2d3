/** The screens of the ten digits, in their order. */
export const roots = [
  'overview',
  'hooks',
  'agents',
  'approvals',
  'inbox',
  'vault',
  'models',
  'tunnel',
  'team',
  'logs',
] as const;
export type Root = (typeof roots)[number];

/** Every page there is: the ten, and what opens below them. */
export type PageName = Root | 'hook' | 'execution' | 'agent' | 'browse';

/** Where one is. */
export interface ScreenPlace {
  page: PageName;
  /** What the page shows, where it shows one thing. */
  id: string | null;
  /** What that belongs to: the hook of an execution; the resource that is browsed. */
  of?: string;
}
