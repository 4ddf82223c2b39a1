import type { Dispatcher } from 'undici';
import { createPieceCount } from '../pieces.ts';
import { OutboundError } from './errors.ts';

/** Answers before the answer (1xx), each of which begins the time of silence anew. */
const MOST_INTERIM = 16;

/**
 * Ends an answer that costs more than it brings, as it is read: bytes one by one, and answers before the answer. Both are as many as
 * fit into the time of a request, whatever its bound in bytes, and take as much of the loop as there is.
 */
export const bearable: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const count = createPieceCount();
  let interim = 0;
  return dispatch(options, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart(controller, status, headers, text) {
      if (status >= 200 || ++interim <= MOST_INTERIM)
        return handler.onResponseStart?.(controller, status, headers, text);
      controller.abort(new OutboundError('network', { message: 'Target sends too many interim answers' }));
    },
    onResponseData(controller, piece) {
      if (count(piece.length)) return handler.onResponseData?.(controller, piece);
      controller.abort(new OutboundError('too_large', { message: 'Response comes in too many small pieces' }));
    },
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  });
};
