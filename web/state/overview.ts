import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Overview } from '../../src/system/overview/contract.js';
import type { Loaded } from './load.js';

/** The overview of what needs the user, kept up to date by the frame of the page for all views. */
export const OverviewContext = createContext<Loaded<Overview> | null>(null);

export const useOverview = (): Loaded<Overview> | null => useContext(OverviewContext);

/** The overview names at most so many of a kind, so that as many may be more. */
export const MAX_OF_A_KIND = 10;
const MAX_UNREAD = 99;

/** Returns the number of calls that wait for an answer as text, empty where none does. */
export const approvalCount = (overview: Loaded<Overview> | null): string => {
  const needs = overview?.data?.needs ?? [];
  const count = needs.filter(({ kind }) => kind === 'approval').length;
  return shortCount(count, MAX_OF_A_KIND - 1);
};

/** Returns the number of unread notifications as text, empty where there is none. */
export const unreadCount = (overview: Loaded<Overview> | null): string =>
  shortCount(overview?.data?.unread ?? 0, MAX_UNREAD);

const shortCount = (count: number, most: number): string => {
  if (count === 0) return '';
  return count > most ? `${most}+` : String(count);
};
