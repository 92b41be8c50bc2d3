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

/** The name of a page: one of the ten screens, or a page that opens below them. */
export type PageName = Root | 'hook' | 'execution' | 'agent' | 'browse';

/** A place on the desk: a page and what it shows. */
export interface ScreenPlace {
  page: PageName;
  /** Id of the one thing that the page shows; null if it does not show one. */
  id: string | null;
  /** The parent of that thing: the hook of an execution, or the resource that is browsed. */
  of?: string;
}
