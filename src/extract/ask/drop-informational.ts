/** Lets no 1xx answer through: undici's decompression takes it for the answer itself, and fails at the one that follows. */

import type { Dispatcher } from 'undici';

/** An interceptor for `compose`, before that of the decompression. */
export const dropInformational: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, {
    onRequestStart: (...words) => handler.onRequestStart?.(...words),
    onRequestUpgrade: (...words) => handler.onRequestUpgrade?.(...words),
    onResponseStart(controller, status, ...words) {
      if (status >= 200) handler.onResponseStart?.(controller, status, ...words);
    },
    onResponseData: (...words) => handler.onResponseData?.(...words),
    onResponseEnd: (...words) => handler.onResponseEnd?.(...words),
    onResponseError: (...words) => handler.onResponseError?.(...words),
  });
