@0.2 @0.4
Feature: Cancellation
  A notification that names a running request. The request still gets its one answer, soon; anything else is left alone.

  @EXT04-CANCEL-001 @EXT04-CANCEL-002
  Scenario: A running call is cancelled
    Given the extension is ready
    And a call is running
    When the host cancels the running call
    Then the extension answers with a result or the error request_cancelled
    And the extension stays silent and goes on serving

  @EXT04-CANCEL-001
  Scenario: A running call is cancelled without a reason
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»}}
    Then the running call is answered

  @EXT04-CANCEL-003
  Scenario Outline: A call is cancelled right behind its request
    Given the extension is ready
    When the host makes the <kind> call
    And the host cancels the call
    Then the extension answers with a result or an error
    And the extension stays silent and goes on serving

    Examples:
      | kind   |
      | sample |
      | slow   |

  @EXT04-CANCEL-004
  Scenario: A cancellation of nothing
    Given the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"user"}}        |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77,"reason":"user"}}       |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"nobody","reason":"user"}} |

  @EXT04-CANCEL-004
  Scenario: A call is cancelled twice
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»,"reason":"user"}}
    And the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»,"reason":"again"}}
    Then the running call is answered
    And the extension stays silent and goes on serving

  @EXT04-CANCEL-004
  Scenario: The text of an id is another id
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"«running»","reason":"user"}}
    Then the running call is undisturbed

  @EXT04-CANCEL-005
  Scenario: An id that an earlier cancellation has named
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":88,"reason":"user"}}
    And the host sends the line {"id":88,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"context":«context»,"name":«tool»}}
    Then the extension answers with a result

  @EXT04-CANCEL-005
  Scenario: A running call has an id that an earlier cancellation has named
    Given the extension is ready
    When the host cancels the next call
    And the host makes the slow call
    Then the running call is undisturbed

  @EXT04-CANCEL-005
  Scenario: Every call has an id that an earlier cancellation has named
    Given the extension is ready
    When the host makes every call under a cancelled id
    Then the extension stays silent and goes on serving

  @EXT04-CANCEL-006
  Scenario: Another running call is left alone
    Given the extension is ready
    And a call is running
    And a call is running
    When the host cancels the call
    And the extension answers with a result or an error
    Then the running call is undisturbed

  @EXT04-CANCEL-007 @EXT04-CANCEL-008 @EXT04-CANCEL-009 @EXT04-CANCEL-016
  Scenario: Cancellations of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT04-CANCEL-009
  Scenario: The refusal of a cancelled call repeats the reason
    Given the extension is ready
    And a call is running
    When the host cancels the running call
    And the extension answers with a result or an error
    Then no frame breaks a rule of this scenario
