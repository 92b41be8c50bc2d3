import { render } from 'preact';
import { BrowserPage } from './app.js';
import { onNetworkOffline, onNetworkOnline, reconnectNow } from './state/live.js';
import { followLinks } from './state/route.js';
import { registerWorker } from './state/worker.js';

const start = (): void => {
  const root = document.getElementById('page');
  if (!root) throw new Error('The document has no element with the id "page"');
  document.addEventListener('click', followLinks);
  document.addEventListener('visibilitychange', () => document.hidden || reconnectNow());
  addEventListener('online', onNetworkOnline);
  addEventListener('offline', onNetworkOffline);
  addEventListener('pageshow', reconnectNow);
  render(<BrowserPage />, root);
  void registerWorker();
};

start();
