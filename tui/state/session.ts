/** The state of the connection to the daemon. */
export type Link =
  | { is: 'connecting' }
  | { is: 'live' }
  /** `nextAt`: time of the next attempt, in milliseconds since 1970. */
  | { is: 'lost'; since: number; attempt: number; nextAt: number; reason: string }
  /** Refused until the user logs in. `isEnded`: there is no valid login session. */
  | { is: 'refused'; reason: string; isEnded?: boolean };

export interface SessionState {
  url: string;
  /** Version of the daemon. Empty until it is known. */
  version: string;
  who: { username: string; role: 'admin' | 'user' } | null;
  /**
   * Username of the stored login, or the typed one. Used to log in while the user is not known yet.
   */
  loginName: string | null;
  /** Slugs of the user's organizations by ID. */
  orgs: Readonly<Record<string, string>>;
  link: Link;
  /** Time of the clock in the title, in milliseconds since 1970. */
  now: number;
}

export type SessionAction =
  | { type: 'session.linked'; link: Link }
  | ({ type: 'session.known' } & Partial<
      Pick<SessionState, 'version' | 'who' | 'loginName' | 'orgs'>
    >)
  | { type: 'session.ticked'; now: number };

export const session = (url: string, now: number): SessionState => ({
  url,
  version: '',
  who: null,
  loginName: null,
  orgs: {},
  link: { is: 'connecting' },
  now,
});

/** Username to log in with. `null` if none is known. */
export const getLoginName = ({ who, loginName }: SessionState): string | null =>
  who?.username ?? loginName;

export const isAdmin = ({ session: { who } }: { session: SessionState }): boolean =>
  who?.role === 'admin';

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
        orgs: action.orgs ?? state.orgs,
      };
    case 'session.ticked':
      return { ...state, now: action.now };
  }
};
