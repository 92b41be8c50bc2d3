/** How the desk stands with the daemon. */
export type Link =
  | { is: 'connecting' }
  | { is: 'live' }
  /** `nextAt`: when it is tried again, milliseconds since 1970. */
  | { is: 'lost'; since: number; attempt: number; nextAt: number; reason: string }
  /** Until one logs in again. `isEnded`: a session there was has ended. */
  | { is: 'refused'; reason: string; isEnded?: boolean };

export interface SessionState {
  url: string;
  /** Of the daemon; empty until it said so. */
  version: string;
  who: { username: string; role: 'admin' | 'user' } | null;
  /** Of the login that was kept, or as it was typed: who logs in where nobody is known yet. */
  loginName: string | null;
  link: Link;
  /** Milliseconds since 1970, as the clock of the title shows it. */
  now: number;
}

export type SessionAction =
  | { type: 'session.linked'; link: Link }
  | ({ type: 'session.known' } & Partial<Pick<SessionState, 'version' | 'who' | 'loginName'>>)
  | { type: 'session.ticked'; now: number };

export const session = (url: string, now: number): SessionState => ({
  url,
  version: '',
  who: null,
  loginName: null,
  link: { is: 'connecting' },
  now,
});

/** As whom one logs in again; null: nobody knows. */
export const loginNameOf = ({ who, loginName }: SessionState): string | null =>
  who?.username ?? loginName;

export const reduceSession = (state: SessionState, action: SessionAction): SessionState => {
  switch (action.type) {
    case 'session.linked':
      return { ...state, link: action.link };
    case 'session.known':
      return {
        ...state,
        version: action.version ?? state.version,
        who: action.who === undefined ? state.who : action.who,
        loginName: action.loginName === undefined ? state.loginName : action.loginName,
      };
    case 'session.ticked':
      return { ...state, now: action.now };
  }
};
