Feature: Races
  What may come at any time, at the worst one. A seed decides where writes are cut and what comes first; the same seed
  repeats it.

  @0.1 @0.2 @0.4 @EXT04-FRAME-007
  Scenario Outline: A session that is cut into small writes
    Given the host <writes>
    And the extension has been started
    When the host sends initialize
    And the extension answers with a result
    And the host makes the sample call
    And the extension answers with a result or an error
    And the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"conform/«hex C3 A9»«hex F0 9F 90 A7»","params":{}}
    Then the extension answers with the error unknown_method

    Examples:
      | writes              |
      | writes byte by byte |
      | writes in pieces    |

  @0.1 @0.2 @0.4 @EXT04-FRAME-007
  Scenario: Many frames in one write
    Given the extension is ready
    When the host writes together
    And the host makes the sample call
    And the host sends the line {"jsonrpc":"2.0","method":"conform/notice","params":{}}
    And the host makes the sample call
    Then every call is answered
    And the extension stays silent and goes on serving

  @0.1 @0.2 @0.4 @EXT04-ENV-005 @EXT04-ENV-006
  Scenario Outline: Calls and cancellations in an order of chance
    Given the extension is ready
    When the host <writes>
    And the host makes calls and cancels some
    Then every call is answered
    And the extension stays silent and goes on serving

    Examples:
      | writes           |
      | writes together  |
      | writes in pieces |
      | reads late       |

  @0.2 @0.4 @EXT04-CANCEL-003
  Scenario Outline: A call and its cancellation in one write
    Given the extension is ready
    When the host writes together
    And the host makes the <kind> call
    And the host cancels the call
    Then the extension answers with a result or an error
    And the extension stays silent and goes on serving

    Examples:
      | kind   |
      | sample |
      | slow   |

  @0.2 @0.4 @EXT04-CANCEL-004 @EXT04-ENV-006
  Scenario Outline: A cancellation between the answer and its arrival
    Given the extension is ready
    When the host reads late
    And the host makes the <kind> call
    And the host makes the <kind> call
    And the host cancels the call
    Then every call is answered
    And the extension stays silent and goes on serving

    Examples:
      | kind   |
      | sample |
      | large  |

  @0.2 @0.4 @EXT04-ENV-019
  Scenario: An answer to a call that is over
    Given the extension is ready
    And the host answers everything with silence
    And a call is running that waits for the host
    When the host cancels the running call
    And the running call is answered
    And the host answers everything with what it is due
    Then the extension stays silent and goes on serving

  @0.1 @0.2 @0.4 @EXT04-SHUT-003
  Scenario Outline: Calls and shutdown in one write
    Given the extension is ready
    When the host writes together
    And the host makes the <kind> call
    And the host makes the sample call
    And the host asks for shutdown
    Then every call is answered before the last request

    Examples:
      | kind   |
      | sample |
      | slow   |

  @0.1 @0.2 @0.4 @EXT04-SHUT-001
  Scenario: The answer to shutdown outlives the process
    Given the extension is ready
    When the host reads late
    And the host asks for shutdown
    And the extension exits
    Then the extension answers with a result or an error

  @0.1 @0.2 @0.4 @EXT04-PROC-001
  Scenario: The input ends right behind calls
    Given the extension is ready
    When the host writes together
    And the host makes calls and cancels some
    And the host makes the slow call
    And the host closes the input
    Then the extension exits
