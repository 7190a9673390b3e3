@0.3
Feature: Races
  What may come at any time, at the worst one. A seed decides where writes are cut and what comes first; the same seed
  repeats it.

  @EXT03-ORDER-005
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

  @EXT03-ORDER-005
  Scenario: Many frames in one write
    Given the extension is ready
    When the host writes together
    And the host makes the sample call
    And the host makes the sample call
    Then every call is answered
    And the extension stays silent and goes on serving

  @EXT03-ORDER-005 @EXT03-ORDER-006
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

  @EXT03-CANCEL-002
  Scenario Outline: A call and its cancellation in one write
    Given the extension is ready
    When the host writes together
    And the host makes the <kind> call
    And the host cancels the call
    Then the extension answers with a result or the error request_cancelled
    And the extension stays silent and goes on serving

    Examples:
      | kind   |
      | sample |
      | slow   |

  @EXT03-CANCEL-002 @EXT03-CANCEL-004
  Scenario: A cancellation between the answer and its arrival
    Given the extension is ready
    When the host reads late
    And the host makes the sample call
    And the host makes the sample call
    And the host cancels the call
    Then every call is answered
    And the extension stays silent and goes on serving

  @EXT03-SHUT-004
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

  @EXT03-SHUT-001 @EXT03-SHUT-002
  Scenario: The answer to shutdown outlives the process
    Given the extension is ready
    When the host reads late
    And the host asks for shutdown
    And the extension exits
    Then the extension answers with a result

  @EXT03-PROC-003
  Scenario: The input ends right behind calls
    Given the extension is ready
    When the host writes together
    And the host makes calls and cancels some
    And the host makes the slow call
    And the host closes the input
    Then the extension exits
