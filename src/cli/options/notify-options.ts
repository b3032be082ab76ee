/** Declares the options for notifications about a sync. */

import type { Options } from './option.ts';

export const notifyOptions = {
  'ping-url': {
    type: 'string',
    describe:
      "URL of a dead man's switch; rekap sends requests to URL/start before a sync, URL after a success, URL/fail after a failure",
  },
  'ping-url-file': { type: 'string', describe: 'file with the URL for --ping-url' },
  'on-publish': {
    type: 'string',
    describe: 'command to run after a snapshot is published; it gets the run as JSON on stdin',
  },
  'on-unchanged': { type: 'string', describe: 'command to run after a sync without changes' },
  'on-failure': { type: 'string', describe: 'command to run after a sync that fails or is refused' },
  'metrics-file': {
    type: 'string',
    describe:
      'file for the textfile collector of the Prometheus node exporter, such as …/rekap.prom; replaced after each sync',
  },
  webhook: { type: 'string', describe: 'URL that gets each run as a POST request with JSON' },
  'webhook-secret-file': {
    type: 'string',
    describe: 'file with the secret that signs webhook requests (HMAC-SHA256)',
  },
} as const satisfies Options;
