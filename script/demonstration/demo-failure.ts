/** A step of the demonstration failed; `advice` says what to do about it. */
export class DemoFailure extends Error {
  override readonly name = 'DemoFailure'
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}
