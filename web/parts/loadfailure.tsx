import { useEffect, useState } from 'preact/hooks';
import { ask } from '../state/api.js';
import { liveState } from '../state/live.js';
import { useObservable } from '../state/store.js';
import { Heading } from './heading.js';
import { LoadingNote } from './notes.js';

/**
 * A view whose file did not load: no connection, or a newer daemon that no longer has the file. It
 * loads automatically once connected again.
 */
export const ViewLoadFailure = ({ retry }: { retry(): void }) => {
  const state = useObservable(liveState);
  const [isReached, setReached] = useState<boolean | null>(null);
  useEffect(() => {
    const found = (answer: boolean) => () => setReached(answer);
    ask('GET', '/api/auth/me').then(found(true), found(false));
    if (state === 'online') retry();
  }, [state, retry]);
  if (isReached === null) return <LoadingNote what="Loading" />;
  return (
    <>
      <Heading title="Could not load" />
      <div class="note warn" role="status">
        {isReached ? (
          <p>Adjutant was updated. Reload the page.</p>
        ) : (
          <p>
            This view could not be loaded:{' '}
            {navigator.onLine ? 'the daemon cannot be reached' : 'you are offline'}.
          </p>
        )}
        <button type="button" onClick={isReached ? () => location.reload() : retry}>
          {isReached ? 'Reload the page' : 'Try again'}
        </button>
      </div>
    </>
  );
};
