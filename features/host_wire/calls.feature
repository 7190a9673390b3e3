Feature: A host calls tools
  What the extension writes wrongly costs the call, or the process, and never the host.

  @0.1 @0.2 @0.4 @EXT04-CALL-007
  Scenario: Arguments that do not fit the tool
    Given a sound extension
    When the host calls the tool "echo" with {"text":7}
    Then the host reports a failure
    And the tool was not called

  @0.1 @0.2 @0.4 @EXT04-CALL-010
  Scenario: A call that ends without an answer is not repeated
    Given an extension that ends in the middle of a call
    When the host calls the tool "echo"
    Then the tool was called once

  @0.2 @0.4 @EXT04-CALL-009
  Scenario Outline: A result that is none
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host reports a failure
    And the extension was asked to shut down

    Examples:
      | fault                                      |
      | answers with no part                       |
      | writes a text part without text            |
      | writes content as a string, as API 0.1 does |

  @0.1 @EXT04-CALL-009
  Scenario: Parts on the version that has none
    Given an extension that answers with parts, as later versions do
    When the host calls the tool "echo"
    Then the host reports a failure
    And the extension was asked to shut down

  @0.1 @0.2 @0.4 @EXT04-FRAME-013
  Scenario Outline: A line that is no JSON object
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up

    Examples:
      | fault                                      |
      | prints what it does into the stream        |
      | starts its output with a byte order mark   |
      | answers in batches of one                  |
      | writes in the encoding of its locale       |

  @0.1 @EXT04-FRAME-014
  Scenario: A result over the bound
    Given an extension that says more than a line may hold
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the extension was not asked to shut down

  @0.2 @0.4 @EXT04-FRAME-014
  Scenario: A line over the bound
    Given an extension that writes a line over the bound
    When the host is interrupted during a call of "slow"
    Then the host gives the extension up
    And the extension was not asked to shut down

  @0.1 @0.2 @0.4 @EXT04-FRAME-015
  Scenario Outline: Spellings that a reader tolerates
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host says what the tool said

    Examples:
      | fault                             |
      | writes a blank line behind a frame |
      | ends its lines in CR LF           |
      | writes a blank behind every colon |

  @0.1 @0.2 @0.4 @EXT04-ENV-016
  Scenario: An answer that comes twice
    Given an extension that sends an answer again
    When the host is interrupted during a call of "slow"
    Then the extension was asked to shut down

  @0.3
  Scenario Outline: A result in another spelling than the canonical one
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the extension was not asked to shut down

    @EXT03-READ-025
    Examples:
      | fault      |
      | writes NaN |

    @EXT03-READ-026
    Examples:
      | fault                              |
      | writes jsonrpc first               |
      | writes a line feed as a \\u escape |
      | escapes everything outside ASCII   |

    @EXT03-READ-028
    Examples:
      | fault                             |
      | writes an integer with a fraction |

    @EXT03-READ-029
    Examples:
      | fault                      |
      | cuts a character in two    |
      | writes half a surrogate pair |

  @0.3
  Scenario Outline: An error in another spelling, or that the table does not have
    Given an extension that <fault>
    When the host is interrupted during a call of "slow"
    Then the host gives the extension up
    And the extension was not asked to shut down

    @EXT03-FRAME-012
    Examples:
      | fault               |
      | ends lines in CR LF |

    @EXT03-READ-025
    Examples:
      | fault                       |
      | writes two values on a line |

    @EXT03-READ-026
    Examples:
      | fault                        |
      | writes a blank behind a colon |

    @EXT03-READ-027
    Examples:
      | fault                 |
      | writes a member twice |

    @EXT03-ENV-019
    Examples:
      | fault                        |
      | writes jsonrpc 2             |
      | adds a member to its envelopes |

    @EXT03-ENV-020
    Examples:
      | fault                                |
      | invents an error code                |
      | appends the reason to an error message |
