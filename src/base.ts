import type { Clock } from './kernel/clock.js';
import type { Http } from './kernel/http.js';
import type { Log } from './kernel/log.js';
import type { Store } from './store/store.js';

/** The dependency that every module has. It is made once, in `app.ts`, and nothing is added to it. */
export interface Base {
  store: Store;
  clock: Clock;
  log: Log;
  http: Http;
  /** The ID of this start of the daemon. */
  boot: string;
  /** The absolute path of the data folder. */
  home: string;
}
