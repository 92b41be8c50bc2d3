import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import tls from 'node:tls';

/**
 * Has this process trust an authority beside those of Node, as NODE_EXTRA_CA_CERTS does for a process
 * that starts. Returns the function that ends it.
 */
export const trustAuthority = (file: string): (() => void) => {
  const original = tls.createSecureContext;
  const certificate = readFileSync(file);
  tls.createSecureContext = (options) => {
    const made = original(options);
    made.context.addCACert(certificate);
    return made;
  };
  syncBuiltinESMExports();
  return () => {
    tls.createSecureContext = original;
    syncBuiltinESMExports();
  };
};
