import type { Clock } from './kernel/clock.js';
import type { Http } from './kernel/http.js';
import type { Log } from './kernel/log.js';
import type { Store } from './store/store.js';

/** Dependencies of every module, created once in `app.ts`. */
export interface Base {
  store: Store;
  clock: Clock;
  log: Log;
  http: Http;
  /** ID of this start of the daemon. */
  boot: string;
  /** Absolute path of the data folder. */
  home: string;
}
